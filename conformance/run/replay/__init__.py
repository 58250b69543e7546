"""Failures that are kept in a file, and repeated from it."""
