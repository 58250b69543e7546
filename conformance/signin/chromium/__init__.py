"""A real Chromium, for pages that need scripts; imported only by users of it."""
