"""Legal agents with other redirect URIs."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any
from urllib.parse import parse_qsl

from gateproof.reference.agent.policy import authorization, exchange, registration
from gateproof.reference.agent.policy.authorization import Query
from gateproof.reference.agent.policy.discovery import Endpoints
from gateproof.reference.agent.policy.exchange import ExchangeFacts
from gateproof.reference.agent.wire import Failed, Outgoing, form
from gateproof.reference.variants.variant import variant


def _one_for_each_gateway() -> dict[str, Any]:
    """Tells gateways apart by their redirect URIs (RFC 9700 section 4.4.2.2), and ignores `iss`."""

    def mark(endpoints: Endpoints) -> str:
        return hashlib.sha256(endpoints.authorization_server.encode()).hexdigest()[:12]

    def own(url: str, endpoints: Endpoints) -> str:
        return f"{url}?gateway={mark(endpoints)}"

    def registration_request(endpoints: Endpoints, record: dict[str, Any]) -> Outgoing:
        uris = [own(uri, endpoints) for uri in record["redirect_uris"]]
        asked = registration.registration_request(endpoints, record)
        return replace(asked, body=json.dumps({**record, "redirect_uris": uris}).encode())

    def authorization_url(endpoints: Endpoints, parameters: Mapping[str, str]) -> str:
        uri = own(parameters["redirect_uri"], endpoints)
        return authorization.authorization_url(endpoints, {**parameters, "redirect_uri": uri})

    def code_in(query: Query, endpoints: Endpoints) -> str:
        if query.get("gateway") != [mark(endpoints)]:
            raise Failed("the redirect belongs to another gateway")
        return authorization.code_in({**query, "iss": ()}, endpoints)

    def token_request(facts: ExchangeFacts) -> Outgoing:
        fields = dict(parse_qsl(exchange.token_request(facts).body.decode()))
        uri = own(facts.settings.callback_url, facts.endpoints)
        return form(facts.endpoints.token, {**fields, "redirect_uri": uri})

    return {
        "registration_request": registration_request,
        "authorization_url": authorization_url,
        "code_in": code_in,
        "token_request": token_request,
    }


VARIANTS = (
    variant(
        "one-redirect-uri-for-a-gateway: the agent has another redirect URI at each gateway, and does not "
        "compare `iss`",
        **_one_for_each_gateway(),
    ),
)
