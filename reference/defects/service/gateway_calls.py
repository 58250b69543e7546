"""Services that send a wrong request for the Proxy token or for redemption."""

from __future__ import annotations

import base64
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


def grant_as_text(settings: Settings, endpoint: str) -> Outgoing:
    asked = proxy.proxy_token_request(settings, endpoint)
    return replace(asked, headers={"authorization": _basic(settings), "content-type": "text/plain"})


def password_grant(settings: Settings, endpoint: str) -> Outgoing:
    client = {"username": settings.proxy_client_id, "password": settings.proxy_client_secret}
    return form(endpoint, {"grant_type": "password"} | client, authorization=_basic(settings))


def secret_in_the_query(settings: Settings, endpoint: str) -> Outgoing:
    query = urlencode({"client_id": settings.proxy_client_id, "client_secret": settings.proxy_client_secret})
    asked = proxy.proxy_token_request(settings, endpoint)
    return replace(asked, url=f"{endpoint}?{query}")


def grant_in_the_query(settings: Settings, endpoint: str) -> Outgoing:
    url = f"{endpoint}?{urlencode(GRANT)}"
    return Outgoing(method="GET", url=url, headers={"authorization": _basic(settings)})


def encoded_as(encoded: Callable[[bytes], bytes]) -> dict[str, Any]:
    """Basic credentials in another encoding."""

    def asked(settings: Settings, endpoint: str) -> Outgoing:
        right = proxy.proxy_token_request(settings, endpoint)
        pair = base64.b64decode(_basic(settings).partition(" ")[2])
        return replace(right, headers={**right.headers, "authorization": f"Basic {encoded(pair).decode()}"})

    return {"proxy_token_request": asked}


def _basic(settings: Settings) -> str:
    return proxy.basic(settings.proxy_client_id, settings.proxy_client_secret)


def redeeming(change: Callable[[CallFacts, Outgoing], Outgoing]) -> dict[str, Any]:
    """The redemption request is changed before it is sent."""
    return {"redemption_request": lambda facts: change(facts, redemption.redemption_request(facts))}


def at_the_second_try(change: Callable[[Outgoing], Outgoing]) -> dict[str, Any]:
    """Only a further redemption request for the same gateway access token is changed."""
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
    """The body has another `resource`."""
    return redeeming(lambda facts, asked: replace(asked, body=json.dumps({"resource": said(facts)}).encode()))


def headed(**headers: Callable[[CallFacts], str]) -> dict[str, Any]:
    """The redemption request has these headers."""

    def change(facts: CallFacts, asked: Outgoing) -> Outgoing:
        said = {name.replace("_", "-"): value(facts) for name, value in headers.items()}
        return replace(asked, headers={**asked.headers, **said})

    return redeeming(change)


def as_a_form(facts: CallFacts, asked: Outgoing) -> Outgoing:
    headers = {**asked.headers, "content-type": "application/x-www-form-urlencoded"}
    return replace(asked, headers=headers, body=urlencode({"resource": facts.settings.indicator}).encode())


def in_the_query(facts: CallFacts, asked: Outgoing) -> Outgoing:
    query = urlencode({"resource": facts.settings.indicator})
    return replace(asked, url=f"{asked.url}?{query}", body=b"{}")


def as_text(_facts: CallFacts, asked: Outgoing) -> Outgoing:
    return replace(asked, headers={**asked.headers, "content-type": "text/plain"})


def token_in_the_query(facts: CallFacts, asked: Outgoing) -> Outgoing:
    return replace(asked, url=f"{asked.url}?access_token={quote(facts.token)}")


DEFECTS = (
    defect(
        "proxy-client-in-the-form (BACK-01 SERVE-01): The service sends the Proxy client's ID and secret in "
        "the form, as agents do.",
        proxy_token_request=client_in_the_form,
    ),
    defect(
        "proxy-client-in-both (BACK-01): The service sends the Proxy client's ID and secret in the header "
        "and in the form.",
        proxy_token_request=client_in_both,
    ),
    defect(
        "proxy-grant-in-json (BACK-01 SERVE-01): The service requests the Proxy token with a JSON body.",
        proxy_token_request=grant_in_json,
    ),
    defect(
        "proxy-grant-as-text (BACK-01 SERVE-01): The service sends the form for the Proxy token with the "
        "content type text/plain.",
        proxy_token_request=grant_as_text,
    ),
    defect(
        "proxy-token-by-password (BACK-01 SERVE-01): The service requests the Proxy token with the password "
        "grant.",
        proxy_token_request=password_grant,
    ),
    defect(
        "proxy-secret-in-the-address (SECRET-07 BACK-01): The service sends the Proxy client's secret in the "
        "query of the token request.",
        proxy_token_request=secret_in_the_query,
    ),
    defect(
        "proxy-token-by-get (BACK-01 SERVE-01): The service requests the Proxy token with GET and the grant "
        "in the query.",
        proxy_token_request=grant_in_the_query,
    ),
    defect(
        "basic-in-the-alphabet-of-urls (BACK-01 SERVE-01): The service encodes the Proxy client's ID and "
        "secret in Base64 for URLs.",
        **encoded_as(base64.urlsafe_b64encode),
    ),
    defect(
        "basic-without-padding (BACK-01 SERVE-01): The service encodes the Proxy client's ID and secret in "
        "Base64 without padding.",
        **encoded_as(lambda pair: base64.b64encode(pair).rstrip(b"=")),
    ),
    defect(
        "proxy-token-with-a-prefix (BACK-04 SERVE-01): The service sends X-Proxy-Token with the prefix "
        "Bearer.",
        **headed(x_proxy_token=lambda facts: f"Bearer {facts.proxy_token}"),
    ),
    defect(
        "prefix-at-the-second-try (BACK-04 BACK-03 SERVE-01): When the service redeems a token again, it "
        "sends X-Proxy-Token with the prefix Bearer.",
        **at_the_second_try(with_a_prefix),
    ),
    defect(
        "tokens-swapped (BACK-04 SERVE-01): The service sends the Proxy token as the Bearer token and the "
        "user's token in X-Proxy-Token.",
        **headed(
            authorization=lambda facts: f"Bearer {facts.proxy_token}", x_proxy_token=lambda facts: facts.token
        ),
    ),
    defect(
        "resource-is-the-services-own-url (BACK-04 SERVE-01): The service sends its own URL as the resource "
        "of the redemption.",
        **resource(lambda facts: facts.settings.service_url),
    ),
    defect(
        "resource-with-a-slash (BACK-04 SERVE-01): The service appends a slash to the Resource indicator in "
        "the redemption.",
        **resource(lambda facts: f"{facts.settings.indicator}/"),
    ),
    defect(
        "resource-tidied-up (BACK-04 SERVE-01): The service sends the Resource indicator in the redemption "
        "as a URL library normalizes it.",
        **resource(lambda facts: str(httpx.URL(facts.settings.indicator))),
    ),
    defect(
        "resource-in-an-array (BACK-04 SERVE-01): The service sends the Resource indicator in an array.",
        **resource(lambda facts: [facts.settings.indicator]),
    ),
    defect(
        "resource-from-the-token (BACK-04 SERVE-01): The service sends the first audience of the agent's "
        "token as the resource of the redemption.",
        **resource(lambda facts: ([*facts.claims["aud"], ""] if facts.claims["aud"] else [""])[0]),
    ),
    defect(
        "resource-from-the-end-of-the-token (BACK-04 SERVE-01): The service sends the last audience of the "
        "agent's token as the resource of the redemption.",
        **resource(lambda facts: ["", *facts.claims["aud"]][-1]),
    ),
    defect(
        "redemption-as-a-form (BACK-04 SERVE-01): The service sends the redemption as a form.",
        **redeeming(as_a_form),
    ),
    defect(
        "redemption-by-put (BACK-04 SERVE-01): The service sends the redemption with PUT.",
        **redeeming(lambda _facts, asked: replace(asked, method="PUT")),
    ),
    defect(
        "redemption-as-text (BACK-04): The service sends the JSON of the redemption with the content type "
        "text/plain.",
        **redeeming(as_text),
    ),
    defect(
        "resource-in-the-address (BACK-04 SERVE-01): The service sends the Resource indicator in the query "
        "of the redemption, not in the body.",
        **redeeming(in_the_query),
    ),
    defect(
        "token-in-the-redemptions-address (SECRET-07): The service also sends the agent's token in the query "
        "of the redemption.",
        **redeeming(token_in_the_query),
    ),
)
