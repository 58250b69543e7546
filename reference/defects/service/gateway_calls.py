"""Services that ask wrongly: for the Proxy token, and at redemption."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any
from urllib.parse import quote, urlencode

import httpx

from gateproof.reference.defects.service.row import defect
from gateproof.reference.service.policy import proxy, redemption
from gateproof.reference.service.policy.redemption import CallFacts
from gateproof.reference.service.settings import Settings
from gateproof.reference.service.wire import Outgoing, form

GRANT = {"grant_type": "client_credentials"}


def client_in_the_form(settings: Settings, endpoint: str) -> Outgoing:
    client = {"client_id": settings.proxy_client_id, "client_secret": settings.proxy_client_secret}
    return form(endpoint, GRANT | client)


def client_in_both(settings: Settings, endpoint: str) -> Outgoing:
    asked = client_in_the_form(settings, endpoint)
    return replace(asked, headers={**asked.headers, "authorization": _basic(settings)})


def grant_in_json(settings: Settings, endpoint: str) -> Outgoing:
    headers = {"authorization": _basic(settings), "content-type": "application/json"}
    return Outgoing(method="POST", url=endpoint, headers=headers, body=json.dumps(GRANT).encode())


def grant_without_a_label(settings: Settings, endpoint: str) -> Outgoing:
    asked = proxy.proxy_token_request(settings, endpoint)
    return replace(asked, headers={"authorization": _basic(settings), "content-type": "text/plain"})


def password_grant(settings: Settings, endpoint: str) -> Outgoing:
    client = {"username": settings.proxy_client_id, "password": settings.proxy_client_secret}
    return form(endpoint, {"grant_type": "password"} | client, authorization=_basic(settings))


def secret_in_the_address(settings: Settings, endpoint: str) -> Outgoing:
    query = urlencode({"client_id": settings.proxy_client_id, "client_secret": settings.proxy_client_secret})
    asked = proxy.proxy_token_request(settings, endpoint)
    return replace(asked, url=f"{endpoint}?{query}")


def grant_in_the_query(settings: Settings, endpoint: str) -> Outgoing:
    url = f"{endpoint}?{urlencode(GRANT)}"
    return Outgoing(method="GET", url=url, headers={"authorization": _basic(settings)})


def _basic(settings: Settings) -> str:
    return proxy.basic(settings.proxy_client_id, settings.proxy_client_secret)


def redeeming(change: Callable[[CallFacts, Outgoing], Outgoing]) -> dict[str, Any]:
    """The request of a redemption is changed before it goes out."""
    return {"redemption_request": lambda facts: change(facts, redemption.redemption_request(facts))}


def at_the_second_try(change: Callable[[Outgoing], Outgoing]) -> dict[str, Any]:
    """Only what is sent again for the same token of the agent is changed."""
    sent = set[str]()

    def request(facts: CallFacts) -> Outgoing:
        asked = redemption.redemption_request(facts)
        again = asked.headers["authorization"] in sent
        sent.add(asked.headers["authorization"])
        return change(asked) if again else asked

    return {"redemption_request": request}


def with_a_prefix(asked: Outgoing) -> Outgoing:
    return replace(
        asked, headers={**asked.headers, "x-proxy-token": f"Bearer {asked.headers['x-proxy-token']}"}
    )


def resource(said: Callable[[CallFacts], Any]) -> dict[str, Any]:
    """Another resource is sent."""
    return redeeming(lambda facts, asked: replace(asked, body=json.dumps({"resource": said(facts)}).encode()))


def headed(**headers: Callable[[CallFacts], str]) -> dict[str, Any]:
    """Other headers are sent with a redemption."""

    def change(facts: CallFacts, asked: Outgoing) -> Outgoing:
        said = {name.replace("_", "-"): value(facts) for name, value in headers.items()}
        return replace(asked, headers={**asked.headers, **said})

    return redeeming(change)


def as_a_form(facts: CallFacts, asked: Outgoing) -> Outgoing:
    headers = {**asked.headers, "content-type": "application/x-www-form-urlencoded"}
    return replace(asked, headers=headers, body=urlencode({"resource": facts.settings.indicator}).encode())


def in_the_address(facts: CallFacts, asked: Outgoing) -> Outgoing:
    query = urlencode({"resource": facts.settings.indicator})
    return replace(asked, url=f"{asked.url}?{query}", body=b"{}")


def without_a_label(_facts: CallFacts, asked: Outgoing) -> Outgoing:
    return replace(asked, headers={**asked.headers, "content-type": "text/plain"})


def token_in_the_address(facts: CallFacts, asked: Outgoing) -> Outgoing:
    return replace(asked, url=f"{asked.url}?access_token={quote(facts.token)}")


DEFECTS = (
    defect(
        "proxy-client-in-the-form (BACK-01 SERVE-01): The Proxy client is sent in the form, as an agent "
        "would.",
        proxy_token_request=client_in_the_form,
    ),
    defect(
        "proxy-client-in-both (BACK-01): The Proxy client is sent in the header and in the form.",
        proxy_token_request=client_in_both,
    ),
    defect(
        "proxy-grant-in-json (BACK-01 SERVE-01): The grant for the Proxy token is sent as JSON.",
        proxy_token_request=grant_in_json,
    ),
    defect(
        "proxy-grant-as-text (BACK-01 SERVE-01): The form for the Proxy token is labelled text/plain.",
        proxy_token_request=grant_without_a_label,
    ),
    defect(
        "proxy-token-by-password (BACK-01 SERVE-01): The Proxy token is asked for with the password grant.",
        proxy_token_request=password_grant,
    ),
    defect(
        "proxy-secret-in-the-address (SECRET-07 BACK-01): The Proxy client's secret stands in the address "
        "of the token request.",
        proxy_token_request=secret_in_the_address,
    ),
    defect(
        "proxy-token-by-get (BACK-01 SERVE-01): The Proxy token is asked for by GET, with the grant in the "
        "query.",
        proxy_token_request=grant_in_the_query,
    ),
    defect(
        "proxy-token-with-a-prefix (BACK-04 SERVE-01): X-Proxy-Token has the word Bearer before the Proxy "
        "token.",
        **headed(x_proxy_token=lambda facts: f"Bearer {facts.proxy_token}"),
    ),
    defect(
        "prefix-at-the-second-try (BACK-04 BACK-03 SERVE-01): Where a redemption is refused, X-Proxy-Token "
        "has the word Bearer before the Proxy token at the second try.",
        **at_the_second_try(with_a_prefix),
    ),
    defect(
        "tokens-swapped (BACK-04 SERVE-01): The Proxy token goes as Bearer, and the user's token into "
        "X-Proxy-Token.",
        **headed(
            authorization=lambda facts: f"Bearer {facts.proxy_token}", x_proxy_token=lambda facts: facts.token
        ),
    ),
    defect(
        "resource-is-the-services-own-url (BACK-04 SERVE-01): Redemption is asked for the service's own URL.",
        **resource(lambda facts: facts.settings.service_url),
    ),
    defect(
        "resource-with-a-slash (BACK-04 SERVE-01): Redemption is asked for the Resource indicator with a "
        "slash behind it.",
        **resource(lambda facts: f"{facts.settings.indicator}/"),
    ),
    defect(
        "resource-tidied-up (BACK-04 SERVE-01): Redemption is asked for the Resource indicator as a URL "
        "library would write it.",
        **resource(lambda facts: str(httpx.URL(facts.settings.indicator))),
    ),
    defect(
        "resource-in-an-array (BACK-04 SERVE-01): Redemption is asked for a list of Resource indicators.",
        **resource(lambda facts: [facts.settings.indicator]),
    ),
    defect(
        "resource-from-the-token (BACK-04 SERVE-01): Redemption is asked for the first audience of the "
        "agent's token.",
        **resource(lambda facts: ([*facts.claims["aud"], ""] if facts.claims["aud"] else [""])[0]),
    ),
    defect(
        "resource-from-the-end-of-the-token (BACK-04 SERVE-01): Redemption is asked for the last audience "
        "of the agent's token.",
        **resource(lambda facts: ["", *facts.claims["aud"]][-1]),
    ),
    defect("redemption-as-a-form (BACK-04 SERVE-01): Redemption is asked by a form.", **redeeming(as_a_form)),
    defect(
        "redemption-by-put (BACK-04 SERVE-01): Redemption is asked by PUT.",
        **redeeming(lambda _facts, asked: replace(asked, method="PUT")),
    ),
    defect(
        "redemption-as-text (BACK-04): The JSON of a redemption is labelled text/plain.",
        **redeeming(without_a_label),
    ),
    defect(
        "resource-in-the-address (BACK-04 SERVE-01): The Resource indicator stands in the query of the "
        "redemption.",
        **redeeming(in_the_address),
    ),
    defect(
        "token-in-the-redemptions-address (SECRET-07): The agent's token stands in the query of the "
        "redemption too.",
        **redeeming(token_in_the_address),
    ),
)
