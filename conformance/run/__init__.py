"""A run: preparing the target and the fakes, running the checks, drawing the result."""
