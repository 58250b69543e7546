"""The checks of an operator's service, one file a family."""
