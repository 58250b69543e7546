"""Definitions of rules, checks, claims, parties and faults."""
