"""Proxy tokens that contain their issue time, authenticated with the Proxy client's secret.

A service may run longer than the harness and keep its Proxy token. The scripted gateway of the next run did
not issue it, but has to accept it until it expires.
"""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

PROXY_TOKEN_S = 3599
_FORM = re.compile(r"pt_([0-9a-f]{32})([0-9a-f]{8})([0-9a-f]{4})([0-9a-f]{32})")
Written = Callable[[str], str]


@dataclass(kw_only=True, slots=True)
class ProxyToken:
    """An issued Proxy token.

    It is accepted for an hour, even if a shorter lifetime was announced, unless the gateway ends its tokens.
    """

    value: str = field(repr=False)
    life_s: float
    expires_at: float
    revoked: bool = False

    @property
    def announced_expiry(self) -> float:
        return self.expires_at - max(0, PROXY_TOKEN_S - self.life_s)


def as_it_is(token: str) -> str:
    return token


def with_every_character(token: str) -> str:
    """The token with each kind of character that RFC 6750 section 2.1 allows."""
    return f"{token}-._~+/A+b/9=="


def between_long_parts(token: str) -> str:
    """The token with the dots and about the length of a JWT with many claims."""
    first, last = (hashlib.shake_256(f"{token}{part}".encode()).hexdigest(300) for part in ("a", "b"))
    return f"{first}.{token}.{last}"


# Forms of a bearer token. A token can be recognized in each of them.
FORMS: Mapping[str, Written] = {
    "every-character": with_every_character,
    "three-long-parts": between_long_parts,
}


def issued(secret: str, life_s: float, written: Written = as_it_is) -> ProxyToken:
    """A new token with this announced lifetime, in this form."""
    content = f"{secrets.token_hex(16)}{int(time.time()):08x}{int(life_s):04x}"
    return _of(written(f"pt_{content}{_mac(secret, content)}"), life_s, time.time())


def issued_before(secret: str, value: str) -> ProxyToken | None:
    """A token that an earlier gateway issued to the same Proxy client; None for any other value."""
    found = _FORM.search(value)
    if found is None or not any(written(found[0]) == value for written in (as_it_is, *FORMS.values())):
        return None
    unique, at, life, mac = found.groups()
    if not hmac.compare_digest(mac, _mac(secret, f"{unique}{at}{life}")):
        return None
    return _of(value, int(life, 16), int(at, 16))


def _of(value: str, life_s: float, at: float) -> ProxyToken:
    left = at + max(PROXY_TOKEN_S, life_s) - time.time()
    return ProxyToken(value=value, life_s=life_s, expires_at=time.monotonic() + left)


def _mac(secret: str, content: str) -> str:
    return hmac.new(secret.encode(), content.encode(), hashlib.sha256).hexdigest()[:32]
