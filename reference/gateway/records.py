"""The gateway's records. Issued credentials are stored as fingerprints only."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from gateproof.reference.gateway.keys import SigningKey

AgentPolicy = Literal["approve", "hold"]
Standing = Literal["approved", "pending"]
Decision = Literal["approve", "switch", "deny"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Project:
    """A Project with its agent policy."""

    id: str
    name: str
    agent_policy: AgentPolicy


@dataclass(frozen=True, kw_only=True, slots=True)
class MerchantPlace:
    """The endpoints of a Resource's merchant, and the gateway's client ID there."""

    issuer: str
    authorization_endpoint: str
    token_endpoint: str
    userinfo_endpoint: str
    jwks_uri: str
    api_url: str
    client_id: str
    ca_file: str | None


@dataclass(frozen=True, kw_only=True, slots=True)
class Resource:
    """A Token exchange Resource; its key signs the gateway's assertions to the merchant."""

    id: str
    project_id: str
    indicator: str
    scopes: tuple[str, ...]
    merchant: MerchantPlace
    key: SigningKey


@dataclass(frozen=True, kw_only=True, slots=True)
class ProxyClient:
    """The machine credential of an operator's backend."""

    id: str
    secret: str = field(repr=False)
    project_id: str
    revoked: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class ProxyToken:
    """An issued Proxy token."""

    client_id: str
    project_id: str
    expires_at: float


@dataclass(frozen=True, kw_only=True, slots=True)
class Agent:
    """A registered agent client."""

    id: str
    secret: str = field(repr=False)
    name: str
    redirect_uris: tuple[str, ...]
    grant_types: tuple[str, ...]
    response_types: tuple[str, ...]
    auth_method: str
    registered_at: float
    withholds_redemption_scope: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class AuthorizationRequest:
    """A valid authorization request."""

    client_id: str
    redirect_uri: str
    scopes: tuple[str, ...]
    state: str
    challenge: str
    nonce: str | None


@dataclass(frozen=True, kw_only=True, slots=True)
class Person:
    """The user, from the merchant's ID token."""

    login_id: str
    preferred_username: str
    email: str | None
    amr: tuple[str, ...]
    signed_in_at: float


@dataclass(frozen=True, kw_only=True, slots=True)
class SignIn:
    """One authorization in one browser, from the request to the user's decision."""

    browser: str = field(repr=False)
    resource_id: str
    request: AuthorizationRequest
    nonce: str = field(repr=False)
    verifier: str = field(repr=False)
    person: Person | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Grant:
    """The result of one approval; revoking it ends all of its tokens."""

    id: str
    agent_id: str
    project_id: str
    resource_id: str
    sub: str
    person: Person
    scopes: tuple[str, ...]
    nonce: str | None
    revoked: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class Code:
    """An issued authorization code."""

    grant_id: str
    agent_id: str
    redirect_uri: str
    challenge: str
    expires_at: float
    spent: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class RefreshToken:
    """An issued refresh token of an agent."""

    grant_id: str
    agent_id: str
    expires_at: float
    spent: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class VaultKey:
    """The key of a cached merchant token."""

    project_id: str
    sub: str
    resource_id: str
    login_id: str


@dataclass(frozen=True, kw_only=True, slots=True)
class VaultEntry:
    """A cached merchant token, the only secret that the gateway stores in plain text."""

    access_token: str = field(repr=False)
    refresh_token: str | None = field(repr=False)
    issued_at: float
    expires_at: float | None
    scopes: tuple[str, ...] | None
    needs_reauthentication: bool = False
