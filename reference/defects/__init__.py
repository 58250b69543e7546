"""Implementations with exactly one wrong decision each, to prove that the checks detect it."""
