"""One run: it runs the checks and writes the record."""
