"""Reference implementations of the specification, in memory."""
