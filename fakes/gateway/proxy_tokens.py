"""Proxy tokens that say when they were issued, to a gateway that knows its Proxy client's secret.

A service whose world stays at one address keeps its Proxy token while the harness comes and goes: the gateway
of the next run has never heard of it, and takes it all the same until its hour is over.
"""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
import time
from dataclasses import dataclass, field

PROXY_TOKEN_S = 3599
_FORM = re.compile(r"pt_([0-9a-f]{32})([0-9a-f]{8})([0-9a-f]{4})([0-9a-f]{32})")


@dataclass(kw_only=True, slots=True)
class ProxyToken:
    """A Proxy token that was handed out; one that was revoked is refused from then on.

    It is good for an hour, also where it was said to live for less: a short life is ended by revoking it.
    """

    value: str = field(repr=False)
    life_s: float
    expires_at: float
    revoked: bool = False

    @property
    def said_to_end_at(self) -> float:
        return self.expires_at - max(0, PROXY_TOKEN_S - self.life_s)


def issued(secret: str, life_s: float) -> ProxyToken:
    """A new one, said to live for so long."""
    said = f"{secrets.token_hex(16)}{int(time.time()):08x}{int(life_s):04x}"
    return _of(f"pt_{said}{_mac(secret, said)}", life_s, time.time())


def issued_before(secret: str, value: str) -> ProxyToken | None:
    """One that an earlier gateway of the same Proxy client has issued; None for anything else."""
    found = _FORM.fullmatch(value)
    if found is None:
        return None
    unique, at, life, mac = found.groups()
    if not hmac.compare_digest(mac, _mac(secret, f"{unique}{at}{life}")):
        return None
    return _of(value, int(life, 16), int(at, 16))


def _of(value: str, life_s: float, at: float) -> ProxyToken:
    left = at + max(PROXY_TOKEN_S, life_s) - time.time()
    return ProxyToken(value=value, life_s=life_s, expires_at=time.monotonic() + left)


def _mac(secret: str, said: str) -> str:
    return hmac.new(secret.encode(), said.encode(), hashlib.sha256).hexdigest()[:32]
