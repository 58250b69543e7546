"""Everything that checks work with, by role."""
