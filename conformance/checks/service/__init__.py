"""The checks of an operator's service, in files by family."""
