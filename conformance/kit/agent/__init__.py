"""For checks of agents: launches, the world around the agent, and a record of its actions."""
