"""How a check of a service is run: what it is given, and what becomes of what it saw."""
