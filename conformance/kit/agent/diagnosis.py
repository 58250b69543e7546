"""Which deviation of the gateway would let an agent that stopped get further."""

from __future__ import annotations

from urllib.parse import urlsplit

from gateproof.conformance.kit.agent.launch import Run
from gateproof.conformance.kit.agent.world import GATEWAY
from gateproof.fakes.gateway.deviations import DEVIATIONS
from gateproof.fakes.gateway.script import Endpoint

_WELL_KNOWN = "/.well-known/"


def advice(run: Run) -> str:
    """The option for a diagnosis, with what it does; empty if no deviation is known to help."""
    name = _deviation(run)
    return f"; to see the rest of the agent: --deviate {name} ({DEVIATIONS[name]})" if name else ""


def _deviation(run: Run) -> str:
    if run.done:
        return ""
    registrations = run.calls(Endpoint.REGISTRATION)
    if any(each.call.status == 400 and _loopback(each.call.json()) for each in registrations):
        return "loopback-redirect"
    if registrations:
        last = registrations[-1].call.json()
        wants_none = isinstance(last, dict) and last.get("token_endpoint_auth_method") == "none"
        return "public-client" if wants_none else ""
    if run.visits:
        return ""
    if run.calls(Endpoint.DISCOVERY):
        return "issuer-address"
    searched = run.calls(Endpoint.ELSEWHERE, party=GATEWAY)
    return "rfc8414-metadata" if any(each.call.target.startswith(_WELL_KNOWN) for each in searched) else ""


def _loopback(record: object) -> bool:
    """True if a registration names an http redirect URI on this machine."""
    uris = record.get("redirect_uris") if isinstance(record, dict) else None
    return isinstance(uris, list) and any(
        isinstance(uri, str) and uri.startswith("http://") and _host(uri) in {"127.0.0.1", "::1", "localhost"}
        for uri in uris
    )


def _host(uri: str) -> str | None:
    try:
        return urlsplit(uri).hostname
    except ValueError:
        return None
