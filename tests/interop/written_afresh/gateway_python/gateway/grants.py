"""Grants: what a user has approved for an agent, with the codes and refresh tokens that stand for it."""

import base64
import hashlib
import json
from dataclasses import dataclass
from sqlite3 import Row

from . import credentials
from .authorizations import Authorization
from .clock import Clock
from .database import Database

CODE_LIFETIME_S = 60
REFRESH_TOKEN_LIFETIME_S = 30 * 24 * 3600


class InvalidGrant(Exception):
    """A code or refresh token that yields nothing."""


class InvalidScope(Exception):
    """A refresh that asks for more than the user has approved."""


@dataclass(frozen=True)
class Grant:
    id: str
    resource_id: str
    client_id: str
    sub: str
    login: str
    scope: str
    amr: tuple[str, ...]
    nonce: str | None
    auth_time: int


class Grants:
    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    def create(self, authorization: Authorization) -> str:
        """Stores what the user has approved. Returns the code for it."""
        request, grant_id, code = authorization.request, credentials.identifier("grant"), credentials.generate()
        with self._database.transaction():
            self._database.change(
                "INSERT INTO grants VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, 0)",
                (
                    grant_id,
                    request.resource_id,
                    request.client_id,
                    authorization.sub,
                    authorization.login,
                    request.scope,
                    json.dumps(authorization.amr),
                    request.nonce,
                    authorization.auth_time,
                ),
            )
            self._database.change(
                "INSERT INTO codes VALUES (?, ?, ?, ?, ?, 0)",
                (
                    credentials.digest(code),
                    grant_id,
                    request.redirect_uri,
                    request.code_challenge,
                    self._clock.now() + CODE_LIFETIME_S,
                ),
            )
        return code

    def find(self, grant_id: str) -> Grant | None:
        row = self._database.one("SELECT * FROM grants WHERE id = ? AND NOT revoked", (grant_id,))
        return _grant(row) if row else None

    def exchange_code(self, client_id: str, code: str, redirect_uri: str, verifier: str) -> tuple[Grant, str]:
        """Takes a code, which a failed attempt of its own agent spends as well. Returns grant and refresh token."""
        with self._database.transaction():
            row = self._database.one(
                "SELECT codes.*, grants.client_id FROM codes JOIN grants ON grants.id = codes.grant_id WHERE digest = ?",
                (credentials.digest(code),),
            )
            result = self._spend_code(row, redirect_uri, verifier) if row and row["client_id"] == client_id else None
        if result is None:
            raise InvalidGrant
        return result

    def _spend_code(self, row: Row, redirect_uri: str, verifier: str) -> tuple[Grant, str] | None:
        if row["used"]:
            self._revoke(row["grant_id"])
            return None
        self._database.change("UPDATE codes SET used = 1 WHERE digest = ?", (row["digest"],))
        if row["expires_at"] <= self._clock.now() or row["redirect_uri"] != redirect_uri:
            return None
        if _challenge(verifier) != row["code_challenge"]:
            return None
        grant = self.find(row["grant_id"])
        return (grant, self._new_refresh_token(grant.id)) if grant else None

    def refresh(self, client_id: str, refresh_token: str, scope: str | None) -> tuple[Grant, str, str]:
        """Replaces a refresh token. Returns the grant, the new refresh token and the scope, which may be a part of it.

        A refresh token that comes a second time was stolen, or its successor was: the grant ends.
        """
        with self._database.transaction():
            row = self._database.one(
                "SELECT token.*, grants.client_id FROM refresh_tokens AS token JOIN grants ON grants.id = token.grant_id WHERE digest = ?",
                (credentials.digest(refresh_token),),
            )
            result = self._spend_refresh_token(row, scope) if row and row["client_id"] == client_id else None
        if result is None:
            raise InvalidGrant
        return result

    def _spend_refresh_token(self, row: Row, scope: str | None) -> tuple[Grant, str, str] | None:
        if row["used"]:
            self._revoke(row["grant_id"])
            return None
        grant = self.find(row["grant_id"])
        if grant is None or row["expires_at"] <= self._clock.now():
            return None
        names = grant.scope.split() if scope is None else scope.split()
        if not names or not set(names) <= set(grant.scope.split()):
            raise InvalidScope
        self._database.change("UPDATE refresh_tokens SET used = 1 WHERE digest = ?", (row["digest"],))
        return grant, self._new_refresh_token(grant.id), " ".join(dict.fromkeys(names))

    def _new_refresh_token(self, grant_id: str) -> str:
        token = credentials.generate()
        self._database.change(
            "INSERT INTO refresh_tokens VALUES (?, ?, ?, 0)",
            (credentials.digest(token), grant_id, self._clock.now() + REFRESH_TOKEN_LIFETIME_S),
        )
        return token

    def _revoke(self, grant_id: str) -> None:
        self._database.change("UPDATE grants SET revoked = 1 WHERE id = ?", (grant_id,))


def _grant(row: Row) -> Grant:
    return Grant(
        id=row["id"],
        resource_id=row["resource_id"],
        client_id=row["client_id"],
        sub=row["sub"],
        login=row["login"],
        scope=row["scope"],
        amr=tuple(json.loads(row["amr"])),
        nonce=row["nonce"],
        auth_time=row["auth_time"],
    )


def _challenge(verifier: str) -> str:
    digest = hashlib.sha256(verifier.encode(errors="surrogateescape")).digest()
    return base64.urlsafe_b64encode(digest).rstrip(b"=").decode()
