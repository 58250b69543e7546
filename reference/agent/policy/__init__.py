"""The agent's decisions as pure functions, one file for each step."""
