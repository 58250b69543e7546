"""TLS assertions about one origin of a target."""

from __future__ import annotations

from gateproof.conformance.suite.claims import LeftOut, expect, require
from gateproof.conformance.wire import tls
from gateproof.conformance.wire.client import Wire
from gateproof.conformance.wire.exchange import Request
from gateproof.conformance.wire.route import Place

# Longer than any handshake takes.
PATIENCE_S = 10.0


def certificate_is_valid(place: Place, url: str) -> None:
    """Expects a chain that ends at the CA of the target file, and a certificate for the requested host."""
    taken = tls.handshake(place, url, version=None, timeout_s=PATIENCE_S)

    expect.that(
        taken.outcome == "done",
        f"TLS at {url}",
        expected="a handshake with a trusted certificate",
        got=taken.detail,
    )


def old_version_is_refused(place: Place, url: str, name: str, own: tuple[str, str]) -> None:
    """Expects that a client with TLS 1.1 or older only gets no connection (RFC 8996 deprecates them)."""
    version = tls.OLD[name]
    _require_tls(place, url)
    if not tls.can_speak(version, own):
        raise LeftOut(
            f"the TLS library of this machine does not speak {name} any more, so this cannot be tested"
        )

    taken = tls.handshake(place, url, version=version, timeout_s=PATIENCE_S)

    expect.that(
        taken.outcome in {"refused", "closed"},
        f"a handshake limited to {name} at {url}",
        expected="an alert or a closed connection",
        got=taken.detail,
    )


def plain_http_is_refused(place: Place, url: str, request: Request | None = None) -> None:
    """Expects that a plain HTTP request is refused: by a TLS alert, a closed connection or a 4xx.

    It is a GET of the URL, unless the check gives another request that would be answered with content.
    """
    _require_tls(place, url)

    asked = request or Request(method="GET", url=url)
    taken = tls.plain_request(place, asked, timeout_s=PATIENCE_S)

    expect.that(
        taken.outcome in {"refused", "closed"},
        f"plain HTTP at {url}",
        expected="an alert, a closed connection or a 4xx",
        got=taken.detail,
    )


def place_of(wire: Wire, url: str, what: str) -> Place:
    """How the origin of the URL is reached."""
    place = wire.place_of(url)
    require.that(place is not None, what, expected="an address of the target", got=url)
    require.that(url.startswith("https:"), what, expected="an https address", got=url)
    assert place is not None  # noqa: S101 - required above
    return place


def _require_tls(place: Place, url: str) -> None:
    """Requires, as the positive twin, that a normal TLS connection to the same place works."""
    taken = tls.handshake(place, url, version=None, timeout_s=PATIENCE_S)
    require.that(taken.outcome == "done", f"TLS at {url}", expected="a handshake", got=taken.detail)
