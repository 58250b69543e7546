"""Value types for the parties and objects of the specification."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from gateproof.conformance.wire.exchange import Exchange
from gateproof.conformance.wire.secret import Secret


@dataclass(frozen=True, kw_only=True, slots=True)
class User:
    """A person who signs in with the merchant's identity provider."""

    name: str
    login: str
    password: Secret


@dataclass(frozen=True, kw_only=True, slots=True)
class Resource:
    """A Token exchange Resource of a Project."""

    id: str
    project_id: str
    indicator: str
    scopes: tuple[str, ...]
    jwks_uri: str
    merchant_client_id: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class ProxyClient:
    """A machine credential of an operator."""

    id: str
    secret: Secret
    project_id: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Project:
    """A Project with its first Resource and its first Proxy client."""

    id: str
    resource: Resource
    proxy_client: ProxyClient


@dataclass(frozen=True, kw_only=True, slots=True)
class Agent:
    """An agent client, as returned by its registration."""

    client_id: str
    client_secret: Secret
    redirect_uris: tuple[str, ...]

    @property
    def redirect_uri(self) -> str:
        return self.redirect_uris[0]


@dataclass(frozen=True, kw_only=True, slots=True)
class Attempt:
    """One authorization request that will be opened in a browser, and its user."""

    agent: Agent
    resource: Resource
    user: User
    verifier: Secret
    parameters: Mapping[str, str]


@dataclass(frozen=True, kw_only=True, slots=True)
class Authorization:
    """A code that can be exchanged, with what the exchange needs."""

    agent: Agent
    code: Secret
    verifier: Secret
    redirect_uri: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Grant:
    """The tokens that one agent got for one user."""

    agent: Agent
    resource: Resource
    user: User
    access_token: Secret
    id_token: Secret
    refresh_token: Secret
    answer: Exchange
