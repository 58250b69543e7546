"""The conformance suite: it asks a target, and judges the answers."""
