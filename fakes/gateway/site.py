"""The addresses of a scripted gateway for agents."""

from __future__ import annotations

import secrets
from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True, slots=True)
class Site:
    """The addresses of a gateway. An agent knows only the path of the discovery document in advance."""

    base_url: str
    core_url: str
    resource_id: str
    registration_path: str
    authorization_path: str
    consent_path: str
    token_path: str
    issuer_path: str

    @property
    def issuer(self) -> str:
        """A URL on the core's host, which only the discovery document contains."""
        return f"{self.core_url}{self.issuer_path}"

    @property
    def authorization_server(self) -> str:
        return f"{self.base_url}/{self.resource_id}"

    @property
    def token_endpoint(self) -> str:
        return f"{self.core_url}{self.token_path}"

    @property
    def authorization_endpoint(self) -> str:
        return f"{self.base_url}{self.authorization_path}"


def odd_site(base_url: str, core_url: str) -> Site:
    """Random paths, which no agent can have hard-coded."""

    def path(*words: str) -> str:
        return "/" + "/".join(f"{word}-{secrets.token_hex(3)}" for word in words)

    return Site(
        base_url=base_url,
        core_url=core_url,
        resource_id=f"res_{secrets.token_hex(6)}",
        registration_path=path("newcomers", "sign-on"),
        authorization_path=path("ask", "the-user"),
        consent_path=path("answer"),
        token_path=path("counter", "change"),
        issuer_path=path("core"),
    )
