"""The parties that a run may talk to, and how each is reached."""

from __future__ import annotations

import ssl
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from urllib.parse import SplitResult, urlsplit

from gateproof.conformance.wire.rate_limit import Pace


@dataclass(frozen=True, kw_only=True)
class Place:
    """How one party is reached: what to trust, where to connect, what to send along.

    A party may also answer on other ports of its hosts, keys for example; those get no extra header and no
    client certificate.
    """

    origins: frozenset[str]
    hosts: frozenset[str] = frozenset()
    ca_file: str | None = None
    client_cert: tuple[str, str] | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    connect_to: str | None = None
    pace: Pace | None = field(default=None, compare=False)

    def go_ahead(self, requests: int = 1) -> None:
        """Waits until so many requests may go to the party at one moment."""
        if self.pace is not None:
            self.pace.take(requests)

    def nearby(self) -> Place:
        """The same party on another port."""
        return replace(self, origins=frozenset(), headers={}, client_cert=None)


def parts_of(url: str) -> SplitResult:
    """The parts of whatever a target gives for a URL; one with an impossible host has none."""
    try:
        return urlsplit(url)
    except ValueError:
        rest, _, fragment = url.partition("#")
        path, _, query = rest.partition("?")
        return SplitResult("", "", path, query, fragment)


def origin(url: str) -> str:
    """Scheme, host and port of a URL in one normal form; what names no host is nobody's but its own."""
    parts = parts_of(url)
    try:
        port = parts.port or {"https": 443, "http": 80}.get(parts.scheme)
    except ValueError:
        return url
    return f"{parts.scheme}://{parts.hostname.lower()}:{port}" if parts.hostname else url


def trust(place: Place) -> ssl.SSLContext:
    """A TLS context that trusts the party's CA file alone, or the system's roots when none is named."""
    context = ssl.create_default_context(cafile=place.ca_file)
    if place.client_cert is not None:
        context.load_cert_chain(*place.client_cert)
    return context
