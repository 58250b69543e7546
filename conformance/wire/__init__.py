"""What an agent and an operator's backend put on the wire, and the record of it."""
