"""The reference with one change that a machine made."""
