"""Gateways whose pages have addresses of agents and errors of the merchant without escaping them."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any
from urllib.parse import parse_qs

from gateproof.reference.defects.gateway.row import defect
from gateproof.reference.deviations.altered_answers import Answered, Asked, altering_answers
from gateproof.reference.gateway.gateway import Gateway
from gateproof.reference.gateway.pages import ApprovePageFacts, approve_page


def returning_to(write: Callable[[str], str]) -> Callable[[ApprovePageFacts], str]:
    """The approve page says where the user will return to."""
    return lambda facts: approve_page(facts).replace(
        "</main>", f"{write(facts.agent.redirect_uris[0])}</main>"
    )


def with_the_logo() -> dict[str, Any]:
    """The approve page shows the logo of the agent."""
    logos: dict[str, str] = {}

    def change(asked: Asked, answered: Answered, _gateway: Gateway) -> Answered:
        if asked.path.endswith("/api/register") and answered.status == 201:
            sent = json.loads(asked.body)
            logos[json.loads(answered.body)["client_id"]] = str(sent.get("logo_uri", ""))
        return answered

    def page(facts: ApprovePageFacts) -> str:
        logo = f"<img src='{logos.get(facts.agent.id, '')}' alt=''>"
        return approve_page(facts).replace("<main>", f"<main>{logo}", 1)

    return {"around": altering_answers(change), "approve_page": page}


def quoting_the_merchant(name: str) -> dict[str, Any]:
    """If the merchant sends an error, the gateway's page has this parameter of it."""

    def change(asked: Asked, answered: Answered, _gateway: Gateway) -> Answered:
        if not asked.path.endswith("/sign-in/callback") or b"</main>" not in answered.body:
            return answered
        said = parse_qs(asked.query).get(name, [""])[0]
        return replace(answered, body=answered.body.replace(b"</main>", f"<p>{said}</p></main>".encode()))

    return {"redirects_error": lambda _: False, "around": altering_answers(change)}


DEFECTS = (
    defect(
        "redirect-uri-in-an-attribute (AUTHZ-23): The approve page has the redirect URI in an attribute with "
        "single quotes, unescaped.",
        approve_page=returning_to(lambda uri: f"<a href='{uri}'>back</a>"),
    ),
    defect(
        "logo-in-an-attribute (AUTHZ-23): The approve page has the address of the agent's logo in an "
        "attribute with single quotes, unescaped.",
        **with_the_logo(),
    ),
    defect(
        "error-of-the-merchant-as-markup (AUTHZ-23): The page after a failed sign-in has the merchant's "
        "error unescaped.",
        **quoting_the_merchant("error"),
    ),
    defect(
        "error-description-of-the-merchant-as-markup (AUTHZ-23): The page after a failed sign-in has the "
        "merchant's error_description unescaped.",
        **quoting_the_merchant("error_description"),
    ),
)
