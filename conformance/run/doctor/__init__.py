"""The diagnosis of `gateproof doctor`."""
