"""Honest, readable implementations of what the specification describes, in memory."""
