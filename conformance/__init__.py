"""The conformance suite: it asks a target, and judges the answers."""

__version__ = "0.1.0"
