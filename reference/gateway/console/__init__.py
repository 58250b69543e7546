"""The Console's pages, on an origin of their own, for a signed-in operator."""
