"""A request that the merchant's authorization server turns down, in the words of RFC 6749."""

from __future__ import annotations


class Refused(Exception):
    """Carries the error code, and a description that quotes nothing from the request."""

    def __init__(self, error: str, description: str, *, status: int = 400) -> None:
        super().__init__(f"{error}: {description}")
        self.error = error
        self.description = description
        self.status = status
