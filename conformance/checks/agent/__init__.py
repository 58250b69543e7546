"""The checks of agents."""
