"""Running a check of an agent: its fixtures, and its exchanges."""
