"""The agent's decisions: pure functions of what it was told, one file for each step of the way."""
