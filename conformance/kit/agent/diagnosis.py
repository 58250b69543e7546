"""Finds the --deviate option with which a stopped agent could continue."""

from __future__ import annotations

from urllib.parse import urlsplit

from gateproof.conformance.kit.agent.launch import Run
from gateproof.conformance.kit.agent.world import GATEWAY
from gateproof.fakes.gateway.deviations import DEVIATIONS
from gateproof.fakes.gateway.script import Endpoint

_REFUSED = 400
_METADATA = ("/.well-known/oauth-authorization-server/", "/.well-known/openid-configuration/")
_THIS_MACHINE = frozenset({"127.0.0.1", "::1", "localhost"})


def advice(run: Run) -> str:
    """The option for a diagnosis, with what it does; empty if no deviation is known to help."""
    name = "" if run.done else _deviation(run)
    if not name or name in run.deviations:
        return ""
    return f"; to see the rest of the agent: --deviate {name} ({DEVIATIONS[name]})"


def _deviation(run: Run) -> str:
    if run.visits or run.calls(Endpoint.TOKEN):
        # It sent the user to authorize, or refreshed: no earlier step has stopped it.
        return "public-client" if _asks_for_no_secret(run) else ""
    registrations = run.calls(Endpoint.REGISTRATION)
    if registrations:
        last = registrations[-1].call
        if last.status == _REFUSED:
            return "loopback-redirect" if _is_loopback_alone(last.json()) else ""
        return "public-client" if _asks_for_no_secret(run) else ""
    if run.calls(Endpoint.DISCOVERY):
        return "issuer-address"
    searched = run.calls(Endpoint.ELSEWHERE, party=GATEWAY)
    return "rfc8414-metadata" if any(each.call.target.startswith(_METADATA) for each in searched) else ""


def _asks_for_no_secret(run: Run) -> bool:
    """True if the last registration was accepted and asked for a client without a secret."""
    registrations = run.calls(Endpoint.REGISTRATION)
    if not registrations or registrations[-1].call.status == _REFUSED:
        return False
    record = registrations[-1].call.json()
    return isinstance(record, dict) and record.get("token_endpoint_auth_method") == "none"


def _is_loopback_alone(record: object) -> bool:
    """True if a registration was refused only because of http redirect URIs on this machine."""
    uris = record.get("redirect_uris") if isinstance(record, dict) else None
    if not isinstance(uris, list) or not all(isinstance(uri, str) for uri in uris):
        return False
    others = [uri for uri in uris if not uri.lower().startswith("https://")]
    return bool(others) and all(
        uri.lower().startswith("http://") and _host(uri) in _THIS_MACHINE for uri in others
    )


def _host(uri: str) -> str | None:
    try:
        return urlsplit(uri).hostname
    except ValueError:
        return None
