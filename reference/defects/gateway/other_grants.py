"""Gateways whose token endpoint has a grant that nobody announced."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any
from urllib.parse import parse_qsl

from gateproof.reference.defects.gateway.row import defect
from gateproof.reference.deviations.altered_answers import Answered, Asked, meddling
from gateproof.reference.gateway.gateway import Gateway

_JSON = ("content-type", "application/json")
_EXCHANGE = "urn:ietf:params:oauth:grant-type:token-exchange"
_BEARER = "urn:ietf:params:oauth:grant-type:jwt-bearer"


def granting(grant_type: str, token: Callable[[dict[str, str], Gateway], str]) -> Any:
    """A token request with this grant is answered with a token, if there is one for it."""

    def change(asked: Asked, answered: Answered, gateway: Gateway) -> Answered:
        form = dict(parse_qsl(asked.body.decode("utf-8", "replace")))
        if not asked.path.endswith("/oauth2/token") or form.get("grant_type") != grant_type:
            return answered
        given = token(form, gateway)
        body = json.dumps({"access_token": given, "token_type": "Bearer", "expires_in": 600})
        headers = (_JSON, ("cache-control", "no-store"))
        return Answered(status=200, headers=headers, body=body.encode()) if given else answered

    return meddling(change)


def for_a_known_login(form: dict[str, str], gateway: Gateway) -> str:
    known = any(login == form.get("username") for _, login in gateway.store.subjects)
    return gateway.ids.secret() if known else ""


DEFECTS = (
    defect(
        "password-grant (CODE-17): A login and any password give tokens.",
        around=granting("password", for_a_known_login),
    ),
    defect(
        "token-exchange-unannounced (CODE-17): An access token is exchanged for a new one.",
        around=granting(_EXCHANGE, lambda form, _gateway: form.get("subject_token", "")),
    ),
    defect(
        "id-token-as-assertion (CODE-17): An ID token is an assertion that gives tokens.",
        around=granting(_BEARER, lambda form, _gateway: form.get("assertion", "")),
    ),
    defect(
        "implicit-grant-at-the-token-endpoint (CODE-17): The grant implicit gives tokens for the asking.",
        around=granting("implicit", lambda _form, gateway: gateway.ids.secret()),
    ),
)
