"""Running a check of a gateway: its fixtures, and its exchanges."""
