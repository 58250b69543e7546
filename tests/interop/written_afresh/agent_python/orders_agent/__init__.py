"""A command-line agent that reads a user's orders at an operator's service, through an agent authorization gateway."""
