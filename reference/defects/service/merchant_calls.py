"""Services that send the merchant's API other credentials than the merchant token."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import replace
from typing import Any

from gateproof.reference.defects.service.row import defect
from gateproof.reference.service.policy import proxy, redemption
from gateproof.reference.service.policy.redemption import CallFacts
from gateproof.reference.service.wire import Answer, Outgoing


def asking_the_merchant(change: Callable[[CallFacts, Outgoing], Outgoing]) -> dict[str, Any]:
    """The request to the merchant's API is changed before it is sent."""
    return {"merchant_request": lambda facts: change(facts, redemption.merchant_request(facts))}


def with_header(name: str, said: Callable[[CallFacts], str]) -> dict[str, Any]:
    """The request to the merchant has one more header."""
    return asking_the_merchant(
        lambda facts, asked: replace(asked, headers={**asked.headers, name: said(facts)})
    )


def headers_passed_on(facts: CallFacts, asked: Outgoing) -> Outgoing:
    """The agent's X- headers are forwarded to the merchant."""
    came = {name: value for name, value in facts.asked.headers if name.startswith("x-")}
    return replace(asked, headers={**came, **asked.headers})


def authorization_renamed(facts: CallFacts, asked: Outgoing) -> Outgoing:
    """The agent's Authorization header is forwarded as X-Original-Authorization."""
    original = next(iter(facts.asked.headers_named("authorization")), "")
    return replace(asked, headers={**asked.headers, "x-original-authorization": original})


def the_agents_own(facts: CallFacts, _answer: Answer) -> str | None:
    """If there is no merchant token, the agent's token is used."""
    return facts.token


def the_agents_own_where(status: Callable[[int], bool]) -> Callable[[CallFacts, Answer], str | None]:
    """The same, only if `status` is true for the status of the redemption."""
    return lambda facts, answer: facts.token if status(answer.status) else None


def the_agents_own_without_a_proxy_token() -> dict[str, Any]:
    """`except TokenError: session.headers["Authorization"] = original`, and the call continues."""
    last: list[CallFacts] = []

    def noted(facts: CallFacts) -> Hashable:
        last[:] = [facts]
        return redemption.cache_key(facts)

    def instead(asked: Outgoing, answer: Answer) -> Outgoing | None:
        if b"grant_type" not in asked.body or answer.status < 500:
            return None
        return redemption.merchant_request(replace(last[0], merchant_token=last[0].token))

    return {"cache_key": noted, "followed": instead}


def the_agents_own_again() -> dict[str, Any]:
    """If the merchant refuses the merchant token, the agent's token is sent."""
    agents: dict[str, str] = {}

    def asked_for(facts: CallFacts) -> Outgoing:
        asked = redemption.merchant_request(facts)
        agents[asked.headers["authorization"]] = facts.token
        return asked

    def again(asked: Outgoing, answer: Answer) -> Outgoing | None:
        token = agents.pop(asked.headers.get("authorization", ""), None)
        if token is None or answer.status not in (401, 403):
            return None
        return replace(asked, headers={**asked.headers, "authorization": f"Bearer {token}"})

    return {"merchant_request": asked_for, "followed": again}


def the_agents_own_first() -> dict[str, Any]:
    """The agent's token is first sent to /sessions of the merchant's API, which may not exist."""
    usual: dict[tuple[str, str], Outgoing] = {}

    def asked_for(facts: CallFacts) -> Outgoing:
        url, authorization = f"{facts.settings.merchant_api_url}/sessions", f"Bearer {facts.token}"
        usual[url, authorization] = redemption.merchant_request(facts)
        return Outgoing(method="POST", url=url, headers={"authorization": authorization})

    def then(asked: Outgoing, _answer: Answer) -> Outgoing | None:
        return usual.pop((asked.url, asked.headers.get("authorization", "")), None)

    return {"merchant_request": asked_for, "followed": then}


DEFECTS = (
    defect(
        "agents-token-to-the-merchant (BACK-05): The service also sends the agent's token to the merchant's "
        "API.",
        **with_header("x-user-token", lambda facts: facts.token),
    ),
    defect(
        "proxy-token-to-the-merchant (BACK-05): The service also sends the Proxy token to the merchant's "
        "API.",
        **with_header("x-proxy-token", lambda facts: facts.proxy_token),
    ),
    defect(
        "proxy-secret-to-the-merchant (BACK-05): The service also sends the Proxy client's secret to the "
        "merchant's API, as an API key.",
        **with_header("x-api-key", lambda facts: facts.settings.proxy_client_secret),
    ),
    defect(
        "agents-headers-passed-on (BACK-05): The service forwards the agent's headers that begin with X- to "
        "the merchant's API.",
        **asking_the_merchant(headers_passed_on),
    ),
    defect(
        "agents-authorization-renamed (BACK-05): The service forwards the agent's Authorization header under "
        "another name to the merchant's API.",
        **asking_the_merchant(authorization_renamed),
    ),
    defect(
        "agents-token-as-a-stand-in (BACK-05): If redemption returns no merchant token, the service sends "
        "the agent's token to the merchant's API.",
        fallback_token=the_agents_own,
    ),
    defect(
        "agents-token-for-a-bad-request (BACK-05): If redemption answers 400, the service sends the agent's "
        "token to the merchant's API.",
        fallback_token=the_agents_own_where(lambda status: status == 400),
    ),
    defect(
        "agents-token-where-redemption-fails (BACK-05): If redemption answers 5xx, the service does not "
        "retry, but sends the agent's token to the merchant's API.",
        worth_another_try=lambda answer: answer is None,
        fallback_token=the_agents_own_where(lambda status: status >= 500),
    ),
    defect(
        "agents-token-where-a-success-has-none (BACK-05): If redemption answers 200 without a merchant "
        "token, the service sends the agent's token to the merchant's API.",
        fallback_token=the_agents_own_where(lambda status: status == 200),
    ),
    defect(
        "agents-token-for-want-of-a-proxy-token (BACK-05): If the token endpoint answers 5xx, the service "
        "sends the agent's token to the merchant's API.",
        **the_agents_own_without_a_proxy_token(),
    ),
    defect(
        "merchant-token-in-a-header-of-its-own (BACK-05 SERVE-01): The service sends the merchant token in "
        "X-Api-Token, not in Authorization.",
        **asking_the_merchant(
            lambda facts, asked: replace(asked, headers={"x-api-token": facts.merchant_token})
        ),
    ),
    defect(
        "agents-token-tried-after-a-refusal (BACK-05): If the merchant's API answers 401 or 403, the service "
        "sends it the agent's token.",
        **the_agents_own_again(),
    ),
    defect(
        "agents-token-announced-to-the-merchant (BACK-05): Before it requests the orders, the service sends "
        "the agent's token to another path of the merchant's API.",
        **the_agents_own_first(),
    ),
    defect(
        "proxy-client-to-the-merchants-proxy (BACK-05): The service also sends the Proxy client's ID and "
        "secret to the merchant's API, in Proxy-Authorization.",
        **with_header(
            "proxy-authorization",
            lambda facts: proxy.basic(facts.settings.proxy_client_id, facts.settings.proxy_client_secret),
        ),
    ),
)
