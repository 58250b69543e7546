"""The common parts of the reference's two sites: escaped markup, sessions, and origin checks."""
