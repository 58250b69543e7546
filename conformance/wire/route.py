"""The hosts that a run may talk to, and how each is reached."""

from __future__ import annotations

import ssl
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from urllib.parse import SplitResult, urlsplit

from gateproof.conformance.wire.rate_limit import Pace
from gateproof.conformance.wire.tracing import Tracing

_ADDRESS = "127.0.0.1"
_THIS_MACHINE = frozenset({"localhost", _ADDRESS, "::1"})


@dataclass(frozen=True, kw_only=True)
class Place:
    """How one host is reached: trusted CA, address, additional headers.

    Other ports of its hosts are allowed as well, for example for keys; they get no additional headers and no
    client certificate. Host names below `own_suffix` are this machine, whatever the system resolves them to.
    """

    origins: frozenset[str]
    hosts: frozenset[str] = frozenset()
    ca_file: str | None = None
    client_cert: tuple[str, str] | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    connect_to: str | None = None
    own_suffix: str = ""
    # Headers that are new for every request.
    tracing: Tracing | None = field(default=None, compare=False)
    pace: Pace | None = field(default=None, compare=False)

    def headers_for_a_request(self) -> Mapping[str, str]:
        """The additional headers for one request."""
        return self.headers if self.tracing is None else {**self.headers, **self.tracing.headers()}

    def go_ahead(self, requests: int = 1) -> None:
        """Waits until this many requests may be sent at one moment."""
        if self.pace is not None:
            self.pace.take(requests)

    def address(self, url: str) -> tuple[str, int]:
        """Where to connect for a URL of this place."""
        if self.connect_to is not None:
            host, _, port = self.connect_to.rpartition(":")
            return host.strip("[]"), int(port)
        parts = urlsplit(url)
        host, usual = parts.hostname or "", 443 if parts.scheme == "https" else 80
        return _ADDRESS if self.is_own_name(host) else host, parts.port or usual

    def is_own_name(self, host: str) -> bool:
        """True if this host is the harness's own name for this machine."""
        return bool(self.own_suffix) and host.endswith(f".{self.own_suffix}")

    def nearby(self) -> Place:
        """The same host on another port."""
        return replace(self, origins=frozenset(), headers={}, client_cert=None, tracing=None)


def hosts_of(urls: Iterable[str]) -> frozenset[str]:
    """The hosts of these URLs; with one name of this machine, its usual names."""
    named = frozenset(host for url in urls if (host := parts_of(url).hostname))
    return named | _THIS_MACHINE if named & _THIS_MACHINE else named


def parts_of(url: str) -> SplitResult:
    """The parts of a URL from a target; without a host if that is invalid."""
    try:
        return urlsplit(url)
    except ValueError:
        rest, _, fragment = url.partition("#")
        path, _, query = rest.partition("?")
        return SplitResult("", "", path, query, fragment)


def origin(url: str) -> str:
    """Scheme, host and port of a URL in normalized form; a URL without a host is returned as it is."""
    parts = parts_of(url)
    try:
        host, port = host_and_port(parts.netloc)
    except ValueError:
        return url
    port = port or {"https": 443, "http": 80}.get(parts.scheme)
    return f"{parts.scheme}://{host.lower()}:{port}" if host else url


@lru_cache(maxsize=1024)
def host_and_port(netloc: str) -> tuple[str, int | None]:
    """Host and port in the second part of a URL; raises ValueError if the port is invalid.

    The parts of a URL parse it again for each of them, and every request needs them several times.
    """
    parts = SplitResult("", netloc, "", "", "")
    return parts.hostname or "", parts.port


def line_to_add(url: str) -> str:
    """A sentence with the setting of a target file that allows requests to this URL."""
    return f'[target] origins = ["{origin(url)}"] allows requests to it'


def trusting(ca_file: str | Path | None) -> ssl.SSLContext:
    """A TLS context that trusts the CA file only, or the system's roots if there is none.

    From Python 3.13 on, certificates must have every extension of RFC 5280 by default. Teams make their own
    without the Authority Key Identifier, which every other client accepts.
    """
    context = ssl.create_default_context(cafile=ca_file)
    context.verify_flags &= ~ssl.VERIFY_X509_STRICT
    return context


def trust(place: Place) -> ssl.SSLContext:
    """A TLS context for this place, with the client certificate that it may need."""
    context = trusting(place.ca_file)
    if place.client_cert is not None:
        context.load_cert_chain(*place.client_cert)
    return context
