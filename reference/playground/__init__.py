"""The playground: an agent and a protected service, whose steps a browser shows."""
