"""Which of the addresses that an agent prints are for its user, and which are the same for its log."""

from __future__ import annotations

import re
from collections.abc import Iterable
from urllib.parse import parse_qs

from gateproof.conformance.wire.route import parts_of

# A SHA-256 in base64url.
CHALLENGE = re.compile(r"[A-Za-z0-9_-]{43}")
# What stands in a log for a state is shorter than any that cannot be guessed, or the same few letters.
_SHORT, _FEW_LETTERS = 16, 10
# What stands where an address was cut off.
_CUT_OFF = "…."


def is_masked(url: str, printed: Iterable[str]) -> bool:
    """True where its secrets are left out, painted over or cut off, and one of the others has them.

    Nothing tells it from what a broken agent asks for, unless there is that other one.
    """
    printed = tuple(printed)
    begins = _begins(url)
    if any(len(_begins(other)) > len(begins) and other.startswith(begins) for other in printed):
        return True
    if CHALLENGE.fullmatch(_value(url, "code_challenge")):
        return False
    state = _value(url, "state")
    hidden = len(state) < _SHORT or len(set(state)) < _FEW_LETTERS
    return any(
        CHALLENGE.fullmatch(_value(other, "code_challenge")) and (hidden or _value(other, "state") == state)
        for other in printed
        if _who_asks(other) == _who_asks(url)
    )


def _begins(url: str) -> str:
    return url.rstrip(_CUT_OFF)


def _who_asks(url: str) -> tuple[str, str, str]:
    return url.partition("?")[0], _value(url, "client_id"), _value(url, "redirect_uri")


def _value(url: str, name: str) -> str:
    return parse_qs(parts_of(url).query).get(name, [""])[0]
