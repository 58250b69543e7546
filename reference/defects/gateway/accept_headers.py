"""Gateways that serve well only who asks for JSON, or who spells header names in one way."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gateproof.reference.defects.gateway.row import defect
from gateproof.reference.deviations.altered_answers import Answered, Asked, meddling
from gateproof.reference.gateway.gateway import Gateway

_DISCOVERY, _KEYS = "/.well-known/openid-configuration", "/jwks"
_REGISTRATION, _TOKEN, _REDEMPTION = "/api/register", "/oauth2/token", "/api/credentials/token"
_PAGE = b"<!doctype html><title>Error</title><h1>Something went wrong</h1>"

Change = Callable[[Answered], Answered]


def page(answered: Answered) -> Answered:
    """The same status on a page for people."""
    return Answered(status=answered.status, headers=(("content-type", "text/html"),), body=_PAGE)


def sends_to(address: str) -> Change:
    """A redirect, as frameworks send a browser that filled in a form wrongly or has not signed in."""
    return lambda _: Answered(status=302, headers=(("location", address),), body=b"")


def not_acceptable(_answered: Answered) -> Answered:
    return Answered(status=406, headers=(), body=b"")


def unless_json_is_asked_for(path: str, statuses: tuple[int, ...], change: Change) -> Any:
    """Answers of this endpoint with these statuses are others unless Accept names JSON."""
    return _where(path, statuses, change, lambda accept: "json" not in (accept or ""))


def unless_anything_is_asked_for(path: str, statuses: tuple[int, ...], change: Change) -> Any:
    """Answers of this endpoint with these statuses are others where there is no Accept header."""
    return _where(path, statuses, change, lambda accept: accept is None)


def _where(path: str, statuses: tuple[int, ...], change: Change, meant: Callable[[str | None], bool]) -> Any:
    def changed(asked: Asked, answered: Answered, _gateway: Gateway) -> Answered:
        if not asked.path.endswith(path) or answered.status not in statuses:
            return answered
        return change(answered) if meant(asked.headers.get("accept")) else answered

    return meddling(changed)


_TO_THE_START, _TO_SIGN_IN = sends_to("/"), sends_to("/login")

DEFECTS = (
    defect(
        "discovery-for-who-says-accept (DISC-01): The discovery document is not served without an Accept "
        "header.",
        around=unless_anything_is_asked_for(_DISCOVERY, (200,), not_acceptable),
    ),
    defect(
        "keys-for-who-says-accept (KEYS-01): The core key set is not served without an Accept header.",
        around=unless_anything_is_asked_for(_KEYS, (200,), not_acceptable),
    ),
    defect(
        "registration-for-who-says-accept (REG-01): An agent without an Accept header cannot register.",
        around=unless_anything_is_asked_for(_REGISTRATION, (201,), not_acceptable),
    ),
    defect(
        "refused-registration-sent-to-the-start (REG-06): A refused registration that does not ask for JSON "
        "is redirected.",
        around=unless_json_is_asked_for(_REGISTRATION, (400,), _TO_THE_START),
    ),
    defect(
        "refused-registration-on-a-page (REDEEM-17): A refused registration that does not ask for JSON gets "
        "a page.",
        around=unless_json_is_asked_for(_REGISTRATION, (400,), page),
    ),
    defect(
        "exchange-for-who-asks-for-json (CODE-01 PROXY-01): Who does not ask for JSON gets no token.",
        around=unless_json_is_asked_for(_TOKEN, (200,), not_acceptable),
    ),
    defect(
        "exchange-refusals-sent-to-the-start (CODE-02 CODE-07 PROXY-03): A refusal at the token endpoint is "
        "a redirect, unless JSON is asked for.",
        around=unless_json_is_asked_for(_TOKEN, (400, 401), _TO_THE_START),
    ),
    defect(
        "token-401-sent-to-sign-in (CODE-07 PROXY-03): A wrong secret at the token endpoint is sent to "
        "sign in, unless JSON is asked for.",
        around=unless_json_is_asked_for(_TOKEN, (401,), _TO_SIGN_IN),
    ),
    defect(
        "proxy-401-sent-to-sign-in (PROXY-03 CODE-07): Without an Accept header, a wrong secret at the token "
        "endpoint is sent to sign in.",
        around=unless_anything_is_asked_for(_TOKEN, (401,), _TO_SIGN_IN),
    ),
    defect(
        "exchange-refusals-on-a-page (CODE-11 CODE-02): A refused exchange that does not ask for JSON gets a "
        "page.",
        around=unless_json_is_asked_for(_TOKEN, (400, 401), page),
    ),
    defect(
        "token-endpoint-for-who-says-accept (PROXY-01 CODE-01): The token endpoint answers nobody well who "
        "sends no Accept header.",
        around=unless_anything_is_asked_for(_TOKEN, (200,), not_acceptable),
    ),
    defect(
        "redemption-for-who-says-accept (REDEEM-01): A redemption without an Accept header gets 406.",
        around=unless_anything_is_asked_for(_REDEMPTION, (200,), not_acceptable),
    ),
    defect(
        "missing-header-sent-to-sign-in (REDEEM-03): A redemption without Authorization that does not ask "
        "for JSON is redirected.",
        around=unless_json_is_asked_for(_REDEMPTION, (400,), _TO_SIGN_IN),
    ),
    defect(
        "id-token-sent-to-sign-in (REDEEM-07): A redemption with an ID token that does not ask for JSON is "
        "redirected.",
        around=unless_json_is_asked_for(_REDEMPTION, (401,), _TO_SIGN_IN),
    ),
    defect(
        "unknown-resource-not-acceptable (REDEEM-09): A 404 of redemption becomes a 406 without an Accept "
        "header.",
        around=unless_anything_is_asked_for(_REDEMPTION, (404,), not_acceptable),
    ),
    defect(
        "refused-redemption-on-a-page (REDEEM-17 VAULT-02): A refused redemption that does not ask for JSON "
        "gets a page.",
        around=unless_json_is_asked_for(_REDEMPTION, (400, 401, 404, 410), page),
    ),
    defect(
        "reauthentication-on-a-page (VAULT-02 REDEEM-17): Without an Accept header, a 410 is a page without "
        "its code.",
        around=unless_anything_is_asked_for(_REDEMPTION, (410,), page),
    ),
)
