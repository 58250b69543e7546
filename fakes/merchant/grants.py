"""Issues tokens for grants: token families, rotation, and detection of reuse.

Nothing here awaits, so every step is atomic for other requests.
"""

from __future__ import annotations

import hashlib
import hmac
from base64 import urlsafe_b64encode
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import jwt

from gateproof.fakes.merchant.clients import Client
from gateproof.fakes.merchant.clock import Clock
from gateproof.fakes.merchant.ledger import Ledger
from gateproof.fakes.merchant.minting import Minter, Signer, left_half_hash
from gateproof.fakes.merchant.records import MintedToken, named_actors
from gateproof.fakes.merchant.refusal import Refused
from gateproof.fakes.merchant.script import Script
from gateproof.fakes.merchant.shape import Shape, choices
from gateproof.fakes.merchant.users import User

CODE_LIFETIME_S = 300
ID_TOKEN_LIFETIME_S = 3600
ABANDONED_CODES = 10_000


@dataclass(frozen=True, kw_only=True, slots=True)
class Grantee:
    """The client, user and acting agent for which tokens are issued."""

    client: Client
    user: User
    act: Any
    scope: str | None


@dataclass(frozen=True, kw_only=True, slots=True)
class CodeTerms:
    """The values of an authorization request that the exchange of its code must match."""

    grantee: Grantee
    redirect_uri: str
    nonce: str | None
    challenge: str | None
    challenge_method: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Issued:
    """The result of one successful token request."""

    access_token: str
    refresh_token: str | None
    id_token: str | None
    lifetime_s: int
    scope: str | None


class Grants:
    """Issues codes and tokens."""

    def __init__(self, *, shape: Shape, minter: Minter, signer: Signer, ledger: Ledger, clock: Clock) -> None:
        self._shape = shape
        self._minter = minter
        self._signer = signer
        self._ledger = ledger
        self._clock = clock
        self._families: dict[int, Grantee] = {}
        self._codes: dict[int, CodeTerms] = {}
        self._kept: dict[tuple[str, str], str] = {}

    def provision(self, grantee: Grantee, script: Script) -> Issued:
        """Starts a token family for a user whom the gateway asserts."""
        return self._begin(self._ledger.new_family(), grantee, script, id_token=None)

    def code(self, terms: CodeTerms) -> str:
        """Creates the authorization code after a sign-in."""
        grantee = terms.grantee
        client_id, login = grantee.client.client_id, grantee.user.login
        code = self._ledger.minted(
            kind="code",
            form="opaque",
            value=self._minter.opaque("code", client_id, login),
            client_id=client_id,
            login=login,
            actor=(),
            family=self._ledger.new_family(),
            lifetime_s=CODE_LIFETIME_S,
        )
        self._codes[code.ordinal] = terms
        if len(self._codes) > ABANDONED_CODES:
            del self._codes[next(iter(self._codes))]
        return code.value

    def keep(self, grantee: Grantee, code: str) -> None:
        """Keeps a code that its user's browser does not get."""
        self._kept[grantee.client.client_id, grantee.user.login] = code

    def kept(self, client: Client, login: str) -> str | None:
        return self._kept.get((client.client_id, login))

    def exchange(
        self, code: MintedToken, script: Script, *, redirect_uri: str | None, verifier: str | None
    ) -> Issued:
        """Exchanges a code once. A second exchange revokes the tokens of the first one."""
        terms = self._codes.get(code.ordinal)
        if code.superseded or terms is None:
            self._ledger.revoke_family(code.family)
            raise Refused("invalid_grant", "the code was used before")
        if not self._ledger.is_active(code):
            raise Refused("invalid_grant", "the code has expired")
        if redirect_uri != terms.redirect_uri:
            raise Refused("invalid_grant", "redirect_uri is not the one of the authorization request")
        _verify_pkce(terms, verifier)
        del self._codes[code.ordinal]
        self._ledger.supersede(code.family, "code")
        return self._begin(code.family, terms.grantee, script, id_token=terms)

    def unasked(self, grantee: Grantee, script: Script) -> Issued:
        """Issues tokens as for a code of this user, but without a code."""
        terms = CodeTerms(
            grantee=grantee, redirect_uri="", nonce=None, challenge=None, challenge_method="plain"
        )
        return self._begin(self._ledger.new_family(), grantee, script, id_token=terms)

    def refresh(self, token: MintedToken, script: Script, *, rotate: bool) -> Issued:
        """Issues an access token. With rotation a refresh token works once; reuse revokes the family."""
        grantee = self._families.get(token.family)
        current = self._ledger.find(token.value, "refresh_token")
        if grantee is None or current is None or current.revoked:
            raise Refused("invalid_grant", "the refresh token was revoked")
        if current.superseded:
            self._ledger.revoke_family(token.family)
            raise Refused("invalid_grant", "the refresh token was used before; its whole family is revoked")
        self._ledger.supersede(token.family, "access_token")
        access = self._access_token(token.family, grantee, script)
        refresh: str | None = token.value
        if rotate or script.rotate_refresh_tokens:
            self._ledger.supersede(token.family, "refresh_token")
            refresh = self._refresh_token(token.family, grantee, script)
        elif script.omit_refresh_token_on_refresh:
            refresh = None
        return _issued(access, refresh, None, script, grantee)

    def _begin(self, family: int, grantee: Grantee, script: Script, *, id_token: CodeTerms | None) -> Issued:
        self._families[family] = grantee
        access = self._access_token(family, grantee, script)
        refresh = self._refresh_token(family, grantee, script) if script.issue_refresh_token else None
        wanted = id_token is not None and "openid" in (grantee.scope or "").split()
        identity = self._id_token(family, grantee, id_token, access, script) if wanted and id_token else None
        return _issued(access, refresh, identity, script, grantee)

    def _access_token(self, family: int, grantee: Grantee, script: Script) -> str:
        client_id, login = grantee.client.client_id, grantee.user.login
        as_jwt = self._shape.jwt_access_tokens(client_id)
        return self._ledger.minted(
            kind="access_token",
            form="jwt" if as_jwt else "opaque",
            value=self._jwt_access_token(grantee, script)
            if as_jwt
            else self._minter.opaque("access_token", client_id, login, shortest=script.shortest_token),
            client_id=client_id,
            login=login,
            actor=named_actors(grantee.act),
            family=family,
            lifetime_s=script.access_token_lifetime_s,
        ).value

    def _refresh_token(self, family: int, grantee: Grantee, script: Script) -> str:
        client_id, login = grantee.client.client_id, grantee.user.login
        return self._ledger.minted(
            kind="refresh_token",
            form="opaque",
            value=self._minter.opaque("refresh_token", client_id, login, shortest=script.shortest_token),
            client_id=client_id,
            login=login,
            actor=named_actors(grantee.act),
            family=family,
            lifetime_s=None,
        ).value

    def _jwt_access_token(self, grantee: Grantee, script: Script) -> str:
        now = int(self._clock.wall())
        filler = choices(self._shape.seed, "filler", grantee.client.client_id).randrange(400)
        # Base64 makes four characters of three, and the other claims have more than 200.
        filler = max(filler, script.shortest_token * 3 // 4 - 200)
        claims = {
            "iss": self._shape.endpoints.issuer,
            "aud": grantee.client.indicator or self._shape.endpoints.api_url,
            "sub": grantee.user.login,
            "client_id": grantee.client.client_id,
            "iat": now,
            "exp": now + script.access_token_lifetime_s,
            "jti": self._minter.random_text(24),
            **({} if grantee.act is None else {"act": grantee.act}),
            **({"ctx": self._minter.random_text(filler)} if filler else {}),
        }
        return self._signer.access_token(self._shape.ordered(claims))

    def _id_token(
        self, family: int, grantee: Grantee, terms: CodeTerms, access_token: str, script: Script
    ) -> str:
        client_id, user = grantee.client.client_id, grantee.user
        now = int(self._clock.wall())
        claims = {
            "iss": self._shape.endpoints.issuer,
            "aud": [client_id] if self._shape.audience_as_list else client_id,
            # In real time: libraries refuse a token from the future, and most cannot use a moved clock.
            "iat": now,
            # A gateway that requires a fresh sign-in compares this with its own clock, which may be moved.
            "auth_time": int(self._clock.target()),
            "exp": int(self._clock.target()) + ID_TOKEN_LIFETIME_S,
            "jti": self._minter.random_text(24),
            "at_hash": left_half_hash(hashlib.sha256(access_token.encode()).digest()),
            **({} if terms.nonce is None else {"nonce": terms.nonce}),
            **identity(user),
        }
        said_of_user = self._shape.ordered(said(claims, script.id_token))
        value = (
            jwt.encode(said_of_user, "", algorithm="none")
            if script.unsigned_id_token
            else self._signer.id_token(said_of_user)
        )
        return self._ledger.minted(
            kind="id_token",
            form="jwt",
            value=altered(value) if script.alter_id_token_signature else value,
            client_id=client_id,
            login=user.login,
            actor=(),
            family=family,
            lifetime_s=claims["exp"] - now,
        ).value


def identity(user: User) -> dict[str, Any]:
    """The claims about a user, for the ID token and the userinfo endpoint."""
    return {
        "sub": user.login,
        "preferred_username": user.login,
        "email": user.login,
        "email_verified": True,
        "name": user.name,
    }


def said(claims: dict[str, Any], instead: Mapping[str, Any]) -> dict[str, Any]:
    """The claims, replaced by those of a script; None removes a claim."""
    return {name: value for name, value in {**claims, **instead}.items() if value is not None}


def altered(token: str) -> str:
    """The JWT with one character in the middle of its signature changed."""
    place = (token.rindex(".") + len(token)) // 2
    return token[:place] + ("A" if token[place] != "A" else "B") + token[place + 1 :]


def _issued(
    access: str, refresh: str | None, id_token: str | None, script: Script, grantee: Grantee
) -> Issued:
    return Issued(
        access_token=access,
        refresh_token=refresh,
        id_token=id_token,
        lifetime_s=script.access_token_lifetime_s,
        scope=grantee.scope,
    )


def _verify_pkce(terms: CodeTerms, verifier: str | None) -> None:
    """Also refuses a verifier without a challenge, which is a sign of a downgrade attack (RFC 9700)."""
    if (terms.challenge is None) != (verifier is None):
        raise Refused("invalid_grant", "code_challenge and code_verifier go together")
    if terms.challenge is None or verifier is None:
        return
    given = verifier.encode(errors="surrogateescape")
    if terms.challenge_method == "S256":
        given = urlsafe_b64encode(hashlib.sha256(given).digest()).rstrip(b"=")
    if not hmac.compare_digest(given, terms.challenge.encode(errors="surrogateescape")):
        raise Refused("invalid_grant", "code_verifier does not match code_challenge")
