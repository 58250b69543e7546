"""Requests of agents and operator backends, and the record of all exchanges."""
