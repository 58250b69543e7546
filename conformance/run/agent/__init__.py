"""How a check of an agent is run: what it is given, and what becomes of what it saw."""
