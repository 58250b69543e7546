"""Decisions without side effects: request facts, records and the time go in, an outcome comes out."""
