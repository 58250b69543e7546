"""Transport: what protects the bearer credentials on their way, on every origin that the gateway serves."""

from __future__ import annotations

from conformance.check import check
from conformance.claims import LeftOut, expect, require
from conformance.gateway import Gateway
from conformance.parties import Resource
from conformance.wire import agent as agent_wire
from conformance.wire import tls
from conformance.wire.place import Place
from conformance.world import World

ORIGINS = ("base", "core")
# Longer than any handshake takes, shorter than a reader's patience.
PATIENCE_S = 10.0


@check("TLS-01", cases=ORIGINS)
def certificate_is_valid_for_its_host(gateway: Gateway, world: World, case: str) -> None:
    """The chain ends at the CA of the target file, and the certificate names the host that was asked for."""
    place, url = _origin(gateway, world.home().resource, case)

    taken = tls.handshake(place, url, version=None, timeout_s=PATIENCE_S)

    expect.that(
        taken.outcome == "done",
        f"TLS at {url}",
        expected="a handshake with a trusted certificate",
        got=taken.detail,
    )


@check("TLS-01", cases={f"{origin}, {name}": (origin, name) for origin in ORIGINS for name in tls.OLD})
def old_version_is_refused(gateway: Gateway, world: World, case: tuple[str, str]) -> None:
    """A client that speaks nothing newer than TLS 1.1 gets no connection: RFC 8996 retired those versions."""
    origin, name = case
    version = tls.OLD[name]
    place, url = _origin(gateway, world.home().resource, origin)
    _works(place, url)
    if not tls.can_speak(version, world.service_certificate):
        raise LeftOut(
            f"the TLS library of this machine does not speak {name} any more, so nothing can be asked"
        )

    taken = tls.handshake(place, url, version=version, timeout_s=PATIENCE_S)

    expect.that(
        taken.outcome in {"refused", "closed"},
        f"a handshake limited to {name} at {url}",
        expected="an alert or a closed connection",
        got=taken.detail,
    )


@check("TLS-01", cases=ORIGINS)
def plain_http_on_the_same_port_gets_no_content(gateway: Gateway, world: World, case: str) -> None:
    """A request in the clear is turned away: by an alert, a closed connection or a 4xx."""
    place, url = _origin(gateway, world.home().resource, case)
    _works(place, url)

    taken = tls.plain_request(place, url, timeout_s=PATIENCE_S)

    expect.that(
        taken.outcome in {"refused", "closed"},
        f"plain HTTP at {url}",
        expected="an alert, a closed connection or a 4xx",
        got=taken.detail,
    )


def _origin(gateway: Gateway, resource: Resource, name: str) -> tuple[Place, str]:
    """How the origin is reached, and an address on it that answers something."""
    url = (
        agent_wire.discovery_url(gateway.base_url, resource.id)
        if name == "base"
        else agent_wire.token_endpoint(gateway.core_url)
    )
    place = gateway.wire.place_of(url)
    require.that(place is not None, f"the {name} origin", expected="an address of the target", got=url)
    require.that(url.startswith("https:"), f"the {name} origin", expected="an https address", got=url)
    assert place is not None  # noqa: S101 - required above
    return place, url


def _works(place: Place, url: str) -> None:
    """The positive twin: the same connection with nothing wrong is made."""
    taken = tls.handshake(place, url, version=None, timeout_s=PATIENCE_S)
    require.that(taken.outcome == "done", f"TLS at {url}", expected="a handshake", got=taken.detail)
