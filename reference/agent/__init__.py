"""A small reference agent: it reads a user's orders from a service that a gateway protects."""
