"""Running a check of a service: its fixtures, and its exchanges."""
