"""Gateways that answer correctly only if the request has an Accept header, or one that names JSON."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gateproof.reference.defects.gateway.row import defect
from gateproof.reference.deviations.altered_answers import Answered, Asked, altering_answers
from gateproof.reference.gateway.gateway import Gateway

_DISCOVERY, _KEYS = "/.well-known/openid-configuration", "/jwks"
_REGISTRATION, _TOKEN, _REDEMPTION = "/api/register", "/oauth2/token", "/api/credentials/token"
_PAGE = b"<!doctype html><title>Error</title><h1>Something went wrong</h1>"

Change = Callable[[Answered], Answered]


def page(answered: Answered) -> Answered:
    """Returns the same status with an HTML page."""
    return Answered(status=answered.status, headers=(("content-type", "text/html"),), body=_PAGE)


def sends_to(address: str) -> Change:
    """Redirects, as web frameworks do after an invalid form or without a session."""
    return lambda _: Answered(status=302, headers=(("location", address),), body=b"")


def not_acceptable(_answered: Answered) -> Answered:
    return Answered(status=406, headers=(), body=b"")


def unless_json_is_asked_for(path: str, statuses: tuple[int, ...], change: Change) -> Any:
    """Changes answers of this endpoint with these statuses unless Accept names JSON."""
    return _where(path, statuses, change, lambda accept: "json" not in (accept or ""))


def unless_anything_is_asked_for(path: str, statuses: tuple[int, ...], change: Change) -> Any:
    """Changes answers of this endpoint with these statuses if there is no Accept header."""
    return _where(path, statuses, change, lambda accept: accept is None)


def _where(
    path: str, statuses: tuple[int, ...], change: Change, applies: Callable[[str | None], bool]
) -> Any:
    def changed(asked: Asked, answered: Answered, _gateway: Gateway) -> Answered:
        if not asked.path.endswith(path) or answered.status not in statuses:
            return answered
        return change(answered) if applies(asked.headers.get("accept")) else answered

    return altering_answers(changed)


_TO_THE_START, _TO_SIGN_IN = sends_to("/"), sends_to("/login")

DEFECTS = (
    defect(
        "discovery-for-who-says-accept (DISC-01): The gateway answers 406 to a discovery request without an "
        "Accept header.",
        around=unless_anything_is_asked_for(_DISCOVERY, (200,), not_acceptable),
    ),
    defect(
        "keys-for-who-says-accept (KEYS-01): The gateway answers 406 to a request for the core key set "
        "without an Accept header.",
        around=unless_anything_is_asked_for(_KEYS, (200,), not_acceptable),
    ),
    defect(
        "registration-for-who-says-accept (REG-01): The gateway answers 406 to a registration without an "
        "Accept header.",
        around=unless_anything_is_asked_for(_REGISTRATION, (201,), not_acceptable),
    ),
    defect(
        "refused-registration-sent-to-the-start (REG-06): A refused registration gets a redirect to / unless "
        "its Accept header names JSON.",
        around=unless_json_is_asked_for(_REGISTRATION, (400,), _TO_THE_START),
    ),
    defect(
        "refused-registration-on-a-page (REDEEM-17): A refused registration gets an HTML page unless its "
        "Accept header names JSON.",
        around=unless_json_is_asked_for(_REGISTRATION, (400,), page),
    ),
    defect(
        "exchange-for-who-asks-for-json (CODE-01 PROXY-01): The token endpoint answers 406 to a valid "
        "request unless its Accept header names JSON.",
        around=unless_json_is_asked_for(_TOKEN, (200,), not_acceptable),
    ),
    defect(
        "exchange-refusals-sent-to-the-start (CODE-02 CODE-07 PROXY-03): A refusal at the token endpoint is "
        "a redirect to / unless Accept names JSON.",
        around=unless_json_is_asked_for(_TOKEN, (400, 401), _TO_THE_START),
    ),
    defect(
        "token-401-sent-to-sign-in (CODE-07 PROXY-03): A 401 at the token endpoint is a redirect to the "
        "sign-in page unless Accept names JSON.",
        around=unless_json_is_asked_for(_TOKEN, (401,), _TO_SIGN_IN),
    ),
    defect(
        "proxy-401-sent-to-sign-in (PROXY-03 CODE-07): A 401 at the token endpoint is a redirect to the "
        "sign-in page if there is no Accept header.",
        around=unless_anything_is_asked_for(_TOKEN, (401,), _TO_SIGN_IN),
    ),
    defect(
        "exchange-refusals-on-a-page (CODE-11 CODE-02): A refusal at the token endpoint is an HTML page "
        "unless Accept names JSON.",
        around=unless_json_is_asked_for(_TOKEN, (400, 401), page),
    ),
    defect(
        "token-endpoint-for-who-says-accept (PROXY-01 CODE-01): The token endpoint answers 406 to a valid "
        "request without an Accept header.",
        around=unless_anything_is_asked_for(_TOKEN, (200,), not_acceptable),
    ),
    defect(
        "redemption-for-who-says-accept (REDEEM-01): A valid redemption without an Accept header gets 406.",
        around=unless_anything_is_asked_for(_REDEMPTION, (200,), not_acceptable),
    ),
    defect(
        "missing-header-sent-to-sign-in (REDEEM-03): A 400 of redemption is a redirect to the sign-in page "
        "unless Accept names JSON.",
        around=unless_json_is_asked_for(_REDEMPTION, (400,), _TO_SIGN_IN),
    ),
    defect(
        "id-token-sent-to-sign-in (REDEEM-07): A 401 of redemption is a redirect to the sign-in page unless "
        "Accept names JSON.",
        around=unless_json_is_asked_for(_REDEMPTION, (401,), _TO_SIGN_IN),
    ),
    defect(
        "unknown-resource-not-acceptable (REDEEM-09): A redemption that would get 404 gets 406 if it has no "
        "Accept header.",
        around=unless_anything_is_asked_for(_REDEMPTION, (404,), not_acceptable),
    ),
    defect(
        "refused-redemption-on-a-page (REDEEM-17 VAULT-02): A refused redemption gets an HTML page unless "
        "its Accept header names JSON.",
        around=unless_json_is_asked_for(_REDEMPTION, (400, 401, 404, 410), page),
    ),
    defect(
        "reauthentication-on-a-page (VAULT-02 REDEEM-17): A 410 is an HTML page without its code if the "
        "request has no Accept header.",
        around=unless_anything_is_asked_for(_REDEMPTION, (410,), page),
    ),
)
