"""A real Chromium, for pages that need scripts; loading it is left to whoever signs users in there."""
