"""Authorizations under way: from the agent's request over the sign-in to the user's answer.

Each belongs to one browser, by a cookie. The cookie is replaced when the user has signed in.
"""

import json
from dataclasses import dataclass
from sqlite3 import Row

from . import credentials
from .clock import Clock
from .database import Database

LIFETIME_S = 600


@dataclass(frozen=True)
class Request:
    """What the agent asked for, checked."""

    resource_id: str
    client_id: str
    redirect_uri: str
    state: str  # percent-encoded, as it goes into the redirect
    scope: str
    code_challenge: str
    nonce: str | None


@dataclass(frozen=True)
class Started:
    id: str
    browser: str
    merchant_state: str
    merchant_nonce: str
    merchant_verifier: str


@dataclass(frozen=True)
class Authorization:
    id: str
    request: Request
    merchant_nonce: str
    merchant_verifier: str
    sub: str | None
    login: str | None
    amr: tuple[str, ...]
    auth_time: int


_COLUMNS = (
    "id, resource_id, client_id, redirect_uri, state, scope, code_challenge, nonce,"
    " browser_digest, form_digest, merchant_nonce, merchant_verifier, sub, login, amr, auth_time"
)


class Authorizations:
    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    def start(self, request: Request) -> Started:
        started = Started(credentials.identifier("auth"), *(credentials.generate() for _ in ("browser", "state", "nonce", "verifier")))
        self._database.change(
            "INSERT INTO authorizations (id, resource_id, client_id, redirect_uri, state, scope, code_challenge, nonce,"
            " browser_digest, merchant_state_digest, merchant_nonce, merchant_verifier, stage, expires_at)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 'sign-in', ?)",
            (
                started.id,
                request.resource_id,
                request.client_id,
                request.redirect_uri,
                request.state,
                request.scope,
                request.code_challenge,
                request.nonce,
                credentials.digest(started.browser),
                credentials.digest(started.merchant_state),
                started.merchant_nonce,
                started.merchant_verifier,
                self._clock.now() + LIFETIME_S,
            ),
        )
        return started

    def id_of(self, merchant_state: str) -> str | None:
        sql = "SELECT id FROM authorizations WHERE merchant_state_digest = ?"
        row = self._database.one(sql, (credentials.digest(merchant_state),))
        return row["id"] if row else None

    def take_sign_in(self, authorization_id: str, resource_id: str, browser: str) -> Authorization | None:
        """The authorization that a merchant's answer is for. It can be taken once, by its browser, at its Resource."""
        with self._database.transaction():
            row = self._row(authorization_id, resource_id, browser, "sign-in")
            return self._move(row, "checking") if row else None

    def signed_in(self, authorization_id: str, sub: str, login: str, amr: list[str]) -> tuple[str, str]:
        """Notes who has signed in. Returns the browser's new secret, and one for the form that asks for approval."""
        browser, form = credentials.generate(), credentials.generate()
        self._database.change(
            "UPDATE authorizations SET stage = 'approval', sub = ?, login = ?, amr = ?, auth_time = ?,"
            " browser_digest = ?, form_digest = ? WHERE id = ? AND stage = 'checking'",
            (
                sub,
                login,
                json.dumps(amr),
                int(self._clock.now()),
                credentials.digest(browser),
                credentials.digest(form),
                authorization_id,
            ),
        )
        return browser, form

    def take_answer(self, authorization_id: str, resource_id: str, browser: str, form: str) -> Authorization | None:
        """The authorization that the user answers. It can be taken once, by the browser that has signed in."""
        with self._database.transaction():
            row = self._row(authorization_id, resource_id, browser, "approval")
            if row is None or not credentials.matches(form, row["form_digest"]):
                return None
            return self._move(row, "over")

    def _row(self, authorization_id: str, resource_id: str, browser: str, stage: str) -> Row | None:
        row = self._database.one(
            f"SELECT {_COLUMNS} FROM authorizations WHERE id = ? AND resource_id = ? AND stage = ? AND expires_at > ?",
            (authorization_id, resource_id, stage, self._clock.now()),
        )
        if row is None or not credentials.matches(browser, row["browser_digest"]):
            return None
        return row

    def _move(self, row: Row, stage: str) -> Authorization:
        self._database.change("UPDATE authorizations SET stage = ? WHERE id = ?", (stage, row["id"]))
        return Authorization(
            id=row["id"],
            request=Request(
                resource_id=row["resource_id"],
                client_id=row["client_id"],
                redirect_uri=row["redirect_uri"],
                state=row["state"],
                scope=row["scope"],
                code_challenge=row["code_challenge"],
                nonce=row["nonce"],
            ),
            merchant_nonce=row["merchant_nonce"],
            merchant_verifier=row["merchant_verifier"],
            sub=row["sub"],
            login=row["login"],
            amr=tuple(json.loads(row["amr"] or "[]")),
            auth_time=row["auth_time"] or 0,
        )
