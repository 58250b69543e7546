"""How a check of a gateway is run: what it is given, and what becomes of what it saw."""
