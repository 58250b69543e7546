"""Implementations that are wrong in exactly one decision each, to show that the checks notice."""
