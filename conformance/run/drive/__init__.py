"""One run, from the first check to the record."""
