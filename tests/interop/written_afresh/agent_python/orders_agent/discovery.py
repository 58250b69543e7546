"""From the challenge over the service's metadata to the gateway's endpoints. Nothing is built in."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from .errors import AgentError, Unreachable
from .web import Web, is_https, origin

# The characters of RFC 3986: an address with others is not handed to another program.
_URI = re.compile(r"[A-Za-z0-9._~:/?\[\]@!$&'()*+,;=%-]+")
_OURS = frozenset({"response_type", "client_id", "redirect_uri", "scope", "state", "code_challenge"})


@dataclass(frozen=True)
class Gateway:
    authorization_server: str
    issuer: str
    authorization_endpoint: str
    token_endpoint: str
    registration_endpoint: str
    names_issuer_in_redirects: bool


async def find_gateway(web: Web, service_url: str, metadata_url: str | None) -> Gateway:
    if metadata_url is None:
        raise Unreachable("The service asks for a token and does not say where to get one.")
    metadata = await web.document("service's metadata", metadata_url)
    if not _speaks_for(metadata.get("resource"), service_url):
        raise AgentError("The metadata are those of another service.")
    servers = metadata.get("authorization_servers")
    usable = [server for server in servers if is_https(server)] if isinstance(servers, list) else []
    if not usable:
        raise AgentError("The service names no authorization server at an https address.")
    return await _discover(web, usable[0].rstrip("/"))


async def _discover(web: Web, server: str) -> Gateway:
    document = await web.document("gateway's document", f"{server}/.well-known/openid-configuration")

    def endpoint(name: str) -> str:
        if not is_https(document.get(name)):
            raise AgentError(f"The gateway has no {name} at an https address.")
        return document[name]

    issuer = document.get("issuer")
    if not isinstance(issuer, str) or not issuer:
        raise AgentError("The gateway names no issuer.")
    return Gateway(
        authorization_server=server,
        issuer=issuer,
        authorization_endpoint=_for_a_browser(endpoint("authorization_endpoint")),
        token_endpoint=endpoint("token_endpoint"),
        registration_endpoint=endpoint("registration_endpoint"),
        names_issuer_in_redirects=document.get("authorization_response_iss_parameter_supported") is True,
    )


def _speaks_for(resource: Any, service_url: str) -> bool:
    if not is_https(resource) or origin(resource) != origin(service_url):
        return False
    path = urlsplit(resource).path.rstrip("/")
    return (urlsplit(service_url).path + "/").startswith(path + "/")


def _for_a_browser(address: str) -> str:
    parts = urlsplit(address)
    taken = {name for name, _ in parse_qsl(parts.query, keep_blank_values=True)}
    if not _URI.fullmatch(address) or taken & _OURS:
        raise AgentError("The gateway's authorization endpoint is no address for a browser.")
    return address
