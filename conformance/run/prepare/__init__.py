"""Preparation of a run: targets, fake parties, and what can be tested."""
