"""The playground: agent and protected service in one, for a browser that watches both at work."""
