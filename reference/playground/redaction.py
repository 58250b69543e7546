"""Redacts secrets for the browser; a label says what was redacted, and why.

The pages show real exchanges, so secrets are found by their value everywhere in the text.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TypeAlias
from urllib.parse import quote, quote_plus

SHORTEST = 8


@dataclass(frozen=True, kw_only=True, slots=True)
class Hidden:
    """The label of a redacted value."""

    what: str
    why: str


Shown: TypeAlias = tuple[str | Hidden, ...]

PROXY_CLIENT_ID = Hidden(
    what="Proxy client ID", why="It is part of the service's credentials, as its secret is."
)
PROXY_SECRET = Hidden(
    what="Proxy client secret",
    why="It stays in the service's secret store: no agent, browser or user gets it.",
)
PROXY_BASIC = Hidden(
    what="Proxy client ID and secret",
    why="They stay in the service's backend: no agent, browser or user gets them.",
)
PROXY_TOKEN = Hidden(
    what="Proxy token",
    why="It stays in the memory of the service's backend: no agent, browser or user gets it.",
)
MERCHANT_TOKEN = Hidden(
    what="merchant token",
    why="It gives access to the user's account at the merchant, and stays in the service's backend.",
)
AGENT_SECRET = Hidden(
    what="agent's client secret", why="It does not expire, so the agent treats it like a long-lived API key."
)
ACCESS_TOKEN = Hidden(
    what="gateway access token",
    why="Whoever has it acts for the user. It is decoded here without its signature.",
)
ID_TOKEN = Hidden(
    what="ID token",
    why="It has personal data about the user, for the agent only. It is decoded here without its signature.",
)
REFRESH_TOKEN = Hidden(
    what="refresh token", why="It gets new tokens until it expires, and only the agent may have it."
)
CODE = Hidden(what="code", why="Until it is exchanged, anybody who also has the verifier gets tokens for it.")
VERIFIER = Hidden(
    what="code verifier", why="It proves that whoever exchanges the code is the agent that asked for it."
)


class Redactor:
    """The redacted values of one walk, in all encodings."""

    def __init__(self) -> None:
        self._forms: dict[str, Hidden] = {}

    def hide(self, value: str, kept: Hidden) -> None:
        """Redacts this value from now on; refuses a short value, because other text could contain it."""
        if len(value) < SHORTEST:
            raise ValueError("too short to be redacted")
        forms = {value, quote_plus(value), quote(value, safe=""), json.dumps(value)[1:-1]}
        self._forms |= dict.fromkeys(forms, kept)

    def redacted(self, text: str) -> Shown:
        """The redacted text."""
        if not self._forms:
            return (text,)
        # The longest first, because a value may contain another one.
        forms = sorted(self._forms, key=len, reverse=True)
        pieces = re.split(f"({'|'.join(map(re.escape, forms))})", text)
        return tuple(self._forms.get(piece, piece) for piece in pieces if piece)
