"""What a check of a service is given: its operation, MCP sessions, and the world around it."""
