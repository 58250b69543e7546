"""The gateway's decisions as pure functions of request facts, records and time."""
