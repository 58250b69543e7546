"""The reference gateway: all of the specification, in memory."""
