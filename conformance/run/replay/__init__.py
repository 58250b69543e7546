"""Repeats failures that are stored in a file."""
