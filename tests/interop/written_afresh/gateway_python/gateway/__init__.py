"""An agent authorization gateway: tokens for agents, a vault for merchant tokens."""
