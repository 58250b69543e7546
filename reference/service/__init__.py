"""A small reference service of an operator: it serves a user's orders to agents with a valid token."""
