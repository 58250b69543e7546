"""The error of RFC 6749 with which the authorization server refuses a request."""

from __future__ import annotations


class Refused(Exception):
    """Has the error code, and a description without content of the request."""

    def __init__(self, error: str, description: str, *, status: int = 400) -> None:
        super().__init__(f"{error}: {description}")
        self.error = error
        self.description = description
        self.status = status
