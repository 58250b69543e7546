"""What a check is given to work with, by role."""
