"""The checks of a gateway."""
