"""The endpoints of a scripted gateway that agents use: registration, authorization, tokens.

They accept and record nearly every request that can be parsed. The checks judge what an agent has to send,
so an agent with one mistake can still be tested for everything else. A redirect URI that is not HTTPS is
refused: no gateway would register such an agent.
"""

from __future__ import annotations

import base64
import html
import math
import secrets
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

from gateproof.fakes.gateway.application import Routes
from gateproof.fakes.gateway.authorization import AuthorizationRequest, page_of, redirected
from gateproof.fakes.gateway.gateway import ACCESS_TOKEN_S, REDEMPTION_SCOPE, Replied
from gateproof.fakes.gateway.journal import Call, Journal
from gateproof.fakes.gateway.keys import SigningKey, key_set, signed
from gateproof.fakes.gateway.script import Endpoint, Script
from gateproof.fakes.gateway.site import Site

# Members that a refresh may leave out (RFC 6749 section 6, OpenID Connect 12.2).
_NOT_ON_REFRESH = {"refresh_token", "id_token"}
INVALID_GRANT = Replied(status=400, document={"error": "invalid_grant"})
REGISTRATION_PATH = "/api/register"


@dataclass(kw_only=True, slots=True)
class AgentClient:
    """A registered agent."""

    client_id: str
    secret: str = field(repr=False)
    redirect_uris: tuple[str, ...]
    pending: bool


@dataclass(kw_only=True, slots=True)
class Token:
    """An access token or refresh token; valid until it expires or a test ends it."""

    value: str = field(repr=False)
    client_id: str
    # The granted scope.
    scope: str
    expires_at: float = math.inf
    dead: bool = False


class AgentEndpoints:
    """Keeps every client, code and token that it issued; a test sets attributes to change what it does."""

    def __init__(
        self,
        site: Site,
        *,
        indicator: str,
        scopes: tuple[str, ...],
        key: SigningKey,
        identity_key: SigningKey,
    ) -> None:
        self.site = site
        self.indicator = indicator
        self.scopes = scopes
        self.script = Script()
        self.base_journal, self.core_journal = Journal(), Journal()
        self.clients: dict[str, AgentClient] = {}
        self.codes: dict[str, AuthorizationRequest] = {}
        self.used_codes: set[str] = set()
        self.access_tokens: dict[str, Token] = {}
        self.refresh_tokens: dict[str, Token] = {}
        self.id_tokens: list[str] = []
        # The PKCE verifiers that the agents sent.
        self.verifiers: list[str] = []
        # New agents are pending until `approve_all`.
        self.holds = False
        # Client IDs and codes contain characters that are special in queries and forms.
        self.odd_values = False
        # A registration without the media type application/json is refused.
        self.requires_json_label = False
        # Additional members for every document; a registration answer then also repeats the whole request.
        self.extra_members: Mapping[str, Any] = {}
        # Sign-ins of pending agents end with a redirect with an error, not on a page.
        self.redirects_pending = False
        # The next n exchanges are refused, and their codes are used up.
        self.refusals = 0
        # Deviations from the specification, see fakes/gateway/deviations.py.
        self.issuer_is_the_address = False
        self.takes_loopback_redirects = False
        self.takes_public_clients = False
        self.answers_at_rfc8414_paths = False
        # Unknown clients are accepted, as by an attacker who collects credentials.
        self.accepts_any_client = False
        # A refresh returns all tokens, and the old refresh token becomes invalid.
        self.rotates_refresh_tokens = True
        # Lifetime of access tokens that are issued from now on.
        self.lifetime_s = ACCESS_TOKEN_S
        # How long the service still accepts an expired token.
        self.leeway_s = 0.0
        # Claims that replace the correct ones in ID tokens.
        self.id_token_claims: Mapping[str, Any] = {}
        # Additional parameters for the redirect, besides code and state.
        self.extra_parameters: Mapping[str, str] = {}
        self._key = key
        # For ID tokens: OpenID Connect clients expect RS256 by default.
        self._identity_key = identity_key
        self._tickets: dict[str, AuthorizationRequest] = {}

    def base_routes(self) -> Routes:
        """The routes of the API host."""
        where = self.site
        server = _path(where.authorization_server)
        discovery = [f"{server}/.well-known/openid-configuration"]
        if self.answers_at_rfc8414_paths:
            names = ("oauth-authorization-server", "openid-configuration")
            discovery += [f"/.well-known/{name}{server}" for name in names]
        return {
            **{("GET", path): (Endpoint.DISCOVERY, lambda _: self.discovery()) for path in discovery},
            ("POST", _path(where.base_url) + where.registration_path): (Endpoint.REGISTRATION, self.register),
            # The specification names this path, but not the field that announces it.
            ("POST", _path(where.base_url) + REGISTRATION_PATH): (Endpoint.REGISTRATION, self.register),
            ("GET", _path(where.base_url) + where.authorization_path): (
                Endpoint.AUTHORIZATION,
                self.authorize,
            ),
            ("POST", _path(where.base_url) + where.consent_path): (Endpoint.CONSENT, self.consent),
        }

    def core_routes(self) -> Routes:
        """The routes of the core host."""
        return {
            ("POST", _path(self.site.token_endpoint)): (Endpoint.TOKEN, self.token),
            ("GET", _path(self._jwks_uri)): (
                Endpoint.CORE_KEYS,
                lambda _: Replied(status=200, document=key_set(self._identity_key, self._key)),
            ),
        }

    def approve_all(self) -> None:
        """Approves all registered agents, as in the Console; later ones are still Pending at first."""
        for client in self.clients.values():
            client.pending = False

    def end_access_tokens(self) -> None:
        """Makes every access token issued so far invalid."""
        for token in self.access_tokens.values():
            token.dead = True

    def end_refresh_tokens(self) -> None:
        for token in self.refresh_tokens.values():
            token.dead = True

    def accepts(self, access_token: str) -> bool:
        token = self.access_tokens.get(access_token)
        return token is not None and not token.dead and time.time() < token.expires_at + self.leeway_s

    def all_expired_at(self) -> float:
        """When every access token so far has expired, also for an agent that counts from its receipt."""
        return max((token.expires_at for token in self.access_tokens.values()), default=0.0) + 1.0

    def secrets(self) -> dict[str, list[str]]:
        """Every secret so far, by kind."""
        return {
            "client_secret": [client.secret for client in self.clients.values()],
            "code": list(self.codes),
            "access_token": list(self.access_tokens),
            "refresh_token": list(self.refresh_tokens),
            "id_token": list(self.id_tokens),
            "code_verifier": list(self.verifiers),
        }

    @property
    def issuer(self) -> str:
        return self.site.authorization_server if self.issuer_is_the_address else self.site.issuer

    @property
    def _jwks_uri(self) -> str:
        return f"{self.site.core_url}/keys"

    def discovery(self) -> Replied:
        where = self.site
        document = {
            "issuer": self.issuer,
            "authorization_endpoint": where.authorization_endpoint,
            "token_endpoint": where.token_endpoint,
            "registration_endpoint": f"{where.base_url}{where.registration_path}",
            "jwks_uri": self._jwks_uri,
            "response_types_supported": ["code"],
            # Required in an OpenID Connect discovery document; some clients insist.
            "subject_types_supported": ["public"],
            "id_token_signing_alg_values_supported": [self._identity_key.algorithm],
            "grant_types_supported": ["authorization_code", "refresh_token"],
            "code_challenge_methods_supported": ["S256"],
            "token_endpoint_auth_methods_supported": ["client_secret_post"],
            "scopes_supported": ["openid", *self.scopes],
            # Required if the redirect has `iss` (RFC 9207 section 2.3).
            **(
                {"authorization_response_iss_parameter_supported": True}
                if "iss" in self.extra_parameters
                else {}
            ),
            **self.extra_members,
        }
        return Replied(status=200, document=document)

    def register(self, call: Call) -> Replied:
        if self.requires_json_label and call.media_type() != "application/json":
            return Replied(status=415, document={"error": "unsupported_media_type"})
        record = call.json()
        uris = record.get("redirect_uris") if isinstance(record, dict) else None
        if not isinstance(uris, list) or not uris or not all(isinstance(uri, str) for uri in uris):
            return Replied(status=400, document={"error": "invalid_redirect_uri"})
        if refused := [uri for uri in uris if not self._takes(uri)]:
            why = f"only HTTPS redirect URIs are registered: {refused[0]}"
            return Replied(status=400, document={"error": "invalid_redirect_uri", "error_description": why})
        public = self.takes_public_clients and record.get("token_endpoint_auth_method") == "none"
        client = AgentClient(
            client_id=_odd_value("agent:") if self.odd_values else f"agent_{secrets.token_hex(10)}",
            secret="" if public else _odd_value(),
            redirect_uris=tuple(uris),
            pending=self.holds,
        )
        self.clients[client.client_id] = client
        document = {
            "client_id": client.client_id,
            **({} if public else {"client_secret": client.secret, "client_secret_expires_at": 0}),
            "redirect_uris": list(uris),
            "token_endpoint_auth_method": "none" if public else "client_secret_post",
            "verification_method": "none",
        }
        if self.extra_members:
            document = {**record, "client_id_issued_at": int(time.time()), **document, **self.extra_members}
        return Replied(status=201, document=document)

    def _takes(self, redirect_uri: str) -> bool:
        try:
            parts = urlsplit(redirect_uri)
        except ValueError:
            return False
        on_this_machine = parts.hostname in {"127.0.0.1", "::1", "localhost"}
        loopback = self.takes_loopback_redirects and parts.scheme == "http" and on_this_machine
        return (parts.scheme == "https" and bool(parts.hostname)) or loopback

    def authorize(self, call: Call) -> Replied:
        """The page on which the user approves the agent, or an error page for an unknown agent."""
        query = dict(parse_qsl(urlsplit(call.target).query, keep_blank_values=True))
        client, redirect_uri = self._client(query.get("client_id", ""), query), query.get("redirect_uri", "")
        if client is None or redirect_uri not in client.redirect_uris:
            return Replied(status=400, page=page_of("Unknown agent", "<p>This agent is not known here.</p>"))
        asked = AuthorizationRequest(
            client_id=client.client_id,
            redirect_uri=redirect_uri,
            state=query.get("state"),
            nonce=query.get("nonce"),
            scope=query.get("scope", ""),
        )
        ticket = secrets.token_urlsafe(24)
        self._tickets[ticket] = asked
        action = html.escape(f"{self.site.base_url}{self.site.consent_path}")
        form = (
            f'<form method="post" action="{action}"><input type="hidden" name="ticket" value="{ticket}">'
            '<button name="decision" value="approve">Approve</button></form>'
        )
        return Replied(status=200, page=page_of("Approve the agent", form))

    def consent(self, call: Call) -> Replied:
        asked = self._tickets.pop(call.form().get("ticket", ""), None)
        if asked is None:
            return Replied(status=400, page=page_of("Too late", "<p>This form was submitted before.</p>"))
        if not self.clients[asked.client_id].pending:
            return redirected(asked, {"code": self.new_code(asked), **self.extra_parameters})
        if self.redirects_pending:
            return redirected(asked, {"error": "access_denied"})
        return Replied(status=200, page=page_of("Pending", "<p>An operator has to approve this agent.</p>"))

    def new_code(self, asked: AuthorizationRequest) -> str:
        code = _odd_value() if self.odd_values else secrets.token_urlsafe(32)
        self.codes[code] = asked
        return code

    def token(self, call: Call) -> Replied:
        """Tokens for a code or refresh token that was issued to the same client."""
        form = fields(call)
        self.verifiers += [form["code_verifier"]] if form.get("code_verifier") else []
        client = self._client(form.get("client_id", ""), form)
        if client is None or not (self.accepts_any_client or form.get("client_secret", "") == client.secret):
            return Replied(status=401, document={"error": "invalid_client"})
        match form.get("grant_type"):
            case "authorization_code":
                return self._exchanged(client, form.get("code", ""))
            case "refresh_token":
                return self._refreshed(client, form.get("refresh_token", ""), form.get("scope", ""))
            case _:
                return Replied(status=400, document={"error": "unsupported_grant_type"})

    def _client(self, client_id: str, asked: Mapping[str, str]) -> AgentClient | None:
        if self.accepts_any_client and client_id not in self.clients:
            uris = (asked.get("redirect_uri", ""),)
            self.clients[client_id] = AgentClient(
                client_id=client_id, secret="", redirect_uris=uris, pending=False
            )
        return self.clients.get(client_id)

    def _exchanged(self, client: AgentClient, code: str) -> Replied:
        asked = self.codes.get(code)
        if asked is None or asked.client_id != client.client_id or code in self.used_codes:
            return INVALID_GRANT
        self.used_codes.add(code)
        if self.refusals > 0:
            self.refusals -= 1
            return INVALID_GRANT
        # Only for a code: after a refresh an ID token has no nonce (OpenID Connect 12.2).
        sign_in = {
            "auth_time": int(time.time()),
            **({"nonce": asked.nonce} if asked.nonce is not None else {}),
        }
        return self._issued(client, asked.scope, sign_in)

    def _refreshed(self, client: AgentClient, value: str, narrowed: str) -> Replied:
        token = self.refresh_tokens.get(value)
        if token is None or token.dead or token.client_id != client.client_id:
            return INVALID_GRANT
        kept = " ".join(scope for scope in token.scope.split() if scope in narrowed.split())
        issued = self._issued(client, kept or token.scope, {}, refreshable=token.scope)
        if self.rotates_refresh_tokens:
            token.dead = True
            return issued
        alone = {name: value for name, value in issued.document.items() if name not in _NOT_ON_REFRESH}
        return replace(issued, document=alone)

    def _issued(
        self, client: AgentClient, scope: str, sign_in: Mapping[str, Any], refreshable: str | None = None
    ) -> Replied:
        now = int(time.time())
        both = {"iss": self.issuer, "sub": "sub_alice", "iat": now, "exp": now + ACCESS_TOKEN_S}
        expires_at = now + self.lifetime_s
        # The token always has the scope for redemption; the answer names only the requested scopes.
        granted = " ".join(dict.fromkeys((*scope.split(), REDEMPTION_SCOPE)))
        agent = {"client_id": client.client_id, "domain": "agent.example", "name": "", "verifications": []}
        ext = {"acr": "urn:gateway:acr:al2", "amr": ["mfa", "kba"], "agent": agent, "project_id": "prj_1"}
        unique: dict[str, Any] = {"jti": secrets.token_urlsafe(12), "aud": [self.indicator]}
        access = signed({**both, "exp": expires_at, **unique, "scope": granted, "ext": ext}, self._key)
        person = {"aud": [client.client_id], "email": "alice@merchant.example", "jti": secrets.token_hex(8)}
        identity = signed({**both, **person, **sign_in, **self.id_token_claims}, self._identity_key)
        refresh = f"rt_{secrets.token_urlsafe(36)}"
        client_id, lasting = client.client_id, scope if refreshable is None else refreshable
        self.access_tokens[access] = Token(
            value=access, client_id=client_id, scope=scope, expires_at=expires_at
        )
        self.refresh_tokens[refresh] = Token(value=refresh, client_id=client_id, scope=lasting)
        self.id_tokens.append(identity)
        document = {
            "access_token": access,
            "id_token": identity,
            "refresh_token": refresh,
            "token_type": "Bearer",
            "expires_in": self.lifetime_s,
            **({"scope": scope} if scope else {}),
            **self.extra_members,
        }
        return Replied(status=200, document=document)


def _odd_value(begins: str = "") -> str:
    """A value with characters that are allowed (RFC 6749 appendix A) but are special in a form."""
    return f"{begins}{secrets.token_urlsafe(18)}+/{secrets.token_urlsafe(15)}&%={secrets.token_urlsafe(6)}"


def fields(call: Call) -> dict[str, str]:
    """The parameters of a token request, also from JSON, the query or a Basic header."""
    document = call.json()
    found = dict(parse_qsl(urlsplit(call.target).query, keep_blank_values=True))
    found |= (
        {name: str(value) for name, value in document.items()} if isinstance(document, dict) else call.form()
    )
    scheme, _, encoded = (call.header("authorization") or "").partition(" ")
    if scheme.lower() == "basic":
        with suppress(ValueError):
            client_id, _, secret = base64.b64decode(encoded.strip()).decode().partition(":")
            found = {"client_id": unquote(client_id), "client_secret": unquote(secret), **found}
    return found


def _path(url: str) -> str:
    return urlsplit(url).path
