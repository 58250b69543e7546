"""Wrappers around a correct party of any role, from which defects and variants are built."""
