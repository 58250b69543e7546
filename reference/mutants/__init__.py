"""The reference with one automatically changed function."""
