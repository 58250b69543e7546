"""The service's decisions as pure functions."""
