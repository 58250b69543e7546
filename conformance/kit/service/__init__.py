"""For checks of services: the operation, MCP sessions, and the world around the service."""
