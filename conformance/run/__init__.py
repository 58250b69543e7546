"""A run: preparing the target and the fakes, running the checks, and recording the results."""
