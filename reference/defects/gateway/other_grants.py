"""Gateways whose token endpoint accepts a grant type that is not announced."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any
from urllib.parse import parse_qsl

from gateproof.reference.defects.gateway.row import defect
from gateproof.reference.deviations.altered_answers import (
    Answered,
    Asked,
    altering_answers,
    newest_merchant_token,
)
from gateproof.reference.gateway.gateway import Gateway
from gateproof.reference.gateway.policy.discovery import discovery_document

_JSON = ("content-type", "application/json")
_EXCHANGE = "urn:ietf:params:oauth:grant-type:token-exchange"
_BEARER = "urn:ietf:params:oauth:grant-type:jwt-bearer"


def granting(grant_type: str, token: Callable[[dict[str, str], Gateway], str]) -> Any:
    """Answers a token request of this grant type with the result of `token`, unless that is empty."""

    def change(asked: Asked, answered: Answered, gateway: Gateway) -> Answered:
        form = dict(parse_qsl(asked.body.decode("utf-8", "replace")))
        if not asked.path.endswith("/oauth2/token") or form.get("grant_type") != grant_type:
            return answered
        given = token(form, gateway)
        body = json.dumps({"access_token": given, "token_type": "Bearer", "expires_in": 600})
        headers = (_JSON, ("cache-control", "no-store"))
        return Answered(status=200, headers=headers, body=body.encode()) if given else answered

    return altering_answers(change)


def for_a_known_login(form: dict[str, str], gateway: Gateway) -> str:
    known = any(login == form.get("username") for _, login in gateway.store.subjects)
    return gateway.ids.secret() if known else ""


def newest_for(indicator: str, gateway: Gateway) -> str:
    """The newest merchant token for the Resource of this indicator; empty if there is none."""
    ids = {each.id for each in gateway.store.resources.values() if each.indicator == indicator}
    entries = [entry for key, entry in gateway.store.vault.items() if key.resource_id in ids]
    return max(entries, key=lambda entry: entry.issued_at).access_token if entries else ""


def exchanged_for_the_merchant_token(form: dict[str, str], gateway: Gateway) -> str:
    """A token exchange of a refresh token, for the Resource that `audience` names."""
    named = form.get("audience", "") if form.get("subject_token_type", "").endswith("refresh_token") else ""
    return newest_for(named, gateway)


def upstream_of_the_user(asked: Asked, answered: Answered, gateway: Gateway) -> Answered:
    """Userinfo at an address of its own, with the token of the identity provider."""
    if asked.path.endswith("/me"):
        token = newest_merchant_token(gateway)
        body = json.dumps({"sub": "me", "upstream_token": token.access_token if token else None})
        return Answered(status=200, headers=(_JSON,), body=body.encode())
    return answered


DEFECTS = (
    defect(
        "merchant-token-by-token-exchange (SECRET-02): A token exchange of a refresh token with an audience "
        "returns the merchant token of that Resource.",
        around=granting(_EXCHANGE, exchanged_for_the_merchant_token),
    ),
    defect(
        "userinfo-with-the-upstream-token (SECRET-02): The userinfo endpoint, which the discovery document "
        "names, returns the merchant token.",
        discovery_document=lambda facts: (
            discovery_document(facts) | {"userinfo_endpoint": f"{facts.core_url}/me"}
        ),
        around=altering_answers(upstream_of_the_user),
    ),
    defect(
        "password-grant (CODE-17): The token endpoint accepts the password grant with a known login and any "
        "password.",
        around=granting("password", for_a_known_login),
    ),
    defect(
        "token-exchange-unannounced (CODE-17): The token endpoint accepts the token exchange grant and "
        "returns the subject token as an access token.",
        around=granting(_EXCHANGE, lambda form, _gateway: form.get("subject_token", "")),
    ),
    defect(
        "id-token-as-assertion (CODE-17): The token endpoint accepts the JWT bearer grant with any "
        "assertion, for example an ID token.",
        around=granting(_BEARER, lambda form, _gateway: form.get("assertion", "")),
    ),
    defect(
        "implicit-grant-at-the-token-endpoint (CODE-17): The token endpoint issues a token for "
        "grant_type=implicit without any credentials.",
        around=granting("implicit", lambda _form, gateway: gateway.ids.secret()),
    ),
)
