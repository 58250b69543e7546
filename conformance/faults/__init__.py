"""Faults as data, and the tools that cause them."""
