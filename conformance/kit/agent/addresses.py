"""Distinguishes printed authorization URLs that are meant for the user from redacted copies in a log."""

from __future__ import annotations

import re
from collections.abc import Iterable
from urllib.parse import parse_qs

from gateproof.conformance.wire.route import parts_of

# A SHA-256 digest in base64url.
CHALLENGE = re.compile(r"[A-Za-z0-9_-]{43}")
# A placeholder for a state is shorter than a real state, or consists of few different characters.
_SHORT, _FEW_LETTERS = 16, 10
# Characters that mark a truncated address.
_CUT_OFF = "…."


def is_whole(url: str) -> bool:
    """True if the URL has a code_challenge and a state as an agent makes them."""
    return _has_challenge(url) and not _is_hidden(_value(url, "state"))


def is_masked(url: str, printed: Iterable[str]) -> bool:
    """True if the URL is a copy with its secrets removed, masked or truncated, and another URL has them.

    Without that other URL, a redacted copy looks like the request of a broken agent.
    """
    printed = tuple(printed)
    prefix = _without_ellipsis(url)
    if any(len(_without_ellipsis(other)) > len(prefix) and other.startswith(prefix) for other in printed):
        return True
    if _has_challenge(url):
        return False
    state = _value(url, "state")
    hidden = _is_hidden(state)
    return any(
        _has_challenge(other) and (hidden or _value(other, "state") == state)
        for other in printed
        if _endpoint_and_client(other) == _endpoint_and_client(url)
    )


def _has_challenge(url: str) -> bool:
    return CHALLENGE.fullmatch(_value(url, "code_challenge")) is not None


def _is_hidden(state: str) -> bool:
    """True for a placeholder of a state."""
    return len(state) < _SHORT or len(set(state)) < _FEW_LETTERS


def _without_ellipsis(url: str) -> str:
    return url.rstrip(_CUT_OFF)


def _endpoint_and_client(url: str) -> tuple[str, str, str]:
    return url.partition("?")[0], _value(url, "client_id"), _value(url, "redirect_uri")


def _value(url: str, name: str) -> str:
    return parse_qs(parts_of(url).query).get(name, [""])[0]
