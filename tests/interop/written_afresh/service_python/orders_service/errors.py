"""What can go wrong behind a call. No text here ever quotes an answer, a header or a credential."""

from __future__ import annotations


class BackendError(Exception):
    """Gateway or merchant did not do what was asked. `code` is all that an agent is told."""

    code = "temporarily_unavailable"
    message = "The orders cannot be read at the moment. Try again later."


class ReauthenticationRequired(BackendError):
    code = "reauthentication_required"
    message = "The user has to authorize this agent again before the orders can be read."


class AccessRefused(BackendError):
    code = "access_refused"
    message = "The gateway does not let this agent act for the user at this merchant."


class NotConnected(BackendError):
    code = "not_connected"
    message = "There is no connection between this user and the merchant."


class KeysUnavailable(Exception):
    """Whether a token is good cannot be said, because the gateway's keys cannot be read."""
