"""What the reference's two sites have in common: markup that is escaped, sessions, and who may ask."""
