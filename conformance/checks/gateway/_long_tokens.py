"""The length of a long merchant token."""

from __future__ import annotations

# Merchants issue JWTs with many claims; a column of 2048 characters does not hold such a token.
LONG_TOKEN = 3000
