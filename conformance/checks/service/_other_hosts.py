"""Requests that name another host than the service's, as a proxy in front of it would."""

from __future__ import annotations

from collections.abc import Mapping

from gateproof.conformance.wire.exchange import Headers

OTHER_HOST = "other.example"
FORWARDED: Mapping[str, Headers] = {
    "x-forwarded-host": (("X-Forwarded-Host", OTHER_HOST), ("X-Forwarded-Proto", "https")),
    "forwarded": (("Forwarded", f"host={OTHER_HOST};proto=https"),),
    "host": (("Host", OTHER_HOST),),
}
