"""An operator's MCP service: lists a user's orders at a merchant, protected by an agent authorization gateway."""
