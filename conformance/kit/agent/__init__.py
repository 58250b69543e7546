"""What a check of an agent is given: launches, the world around the agent, and what it did there."""
