"""Discovery: from the service's 401 to the gateway's endpoints, only by what the documents say."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gateproof.reference.agent.wire import Failed

_POINTER = re.compile(r'\bresource_metadata\s*=\s*(?:"([^"]*)"|([^\s,"]+))', re.IGNORECASE)


@dataclass(frozen=True, kw_only=True, slots=True)
class Endpoints:
    """The values of an authorization server's discovery document."""

    authorization_server: str
    issuer: str
    registration: str
    authorization: str
    token: str


def metadata_url(challenges: Sequence[str], _service_url: str) -> str:
    """The metadata URL in the challenge, which may have any path."""
    for value in challenges:
        if found := _POINTER.search(value):
            return found[1] or found[2] or ""
    raise Failed("the service requires a token, but its challenge has no metadata URL")


def is_about(metadata: Mapping[str, Any], service_url: str) -> bool:
    """True if the metadata are for this service; others must not be used (RFC 9728 section 3.3)."""
    resource, origin = metadata.get("resource"), "/".join(service_url.split("/")[:3])
    return (
        isinstance(resource, str)
        and f"{resource}/".startswith(f"{origin}/")
        and f"{service_url}/".startswith(f"{resource.rstrip('/')}/")
    )


def authorization_server(metadata: Mapping[str, Any]) -> str:
    """The first authorization server in the metadata."""
    servers = metadata.get("authorization_servers")
    if isinstance(servers, list) and servers and isinstance(servers[0], str):
        return servers[0].rstrip("/")
    raise Failed("the service's metadata name no authorization server")


def discovery_url(server: str) -> str:
    return f"{server}/.well-known/openid-configuration"


def endpoints(server: str, document: Mapping[str, Any]) -> Endpoints:
    """The endpoints in the document; no URL is assumed."""
    names = ("issuer", "registration_endpoint", "authorization_endpoint", "token_endpoint")
    found = [document.get(name) for name in names]
    if not all(isinstance(each, str) and each for each in found):
        raise Failed("the gateway's discovery document lacks an endpoint")
    issuer, registration, authorization, token = map(str, found)
    return Endpoints(
        authorization_server=server,
        issuer=issuer,
        registration=registration,
        authorization=authorization,
        token=token,
    )
