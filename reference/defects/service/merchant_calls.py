"""Services that show the merchant's API something else than the merchant token, or something beside it."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import replace
from typing import Any

from gateproof.reference.defects.service.row import defect
from gateproof.reference.service.policy import proxy, redemption
from gateproof.reference.service.policy.redemption import CallFacts
from gateproof.reference.service.wire import Answer, Outgoing


def asking_the_merchant(change: Callable[[CallFacts, Outgoing], Outgoing]) -> dict[str, Any]:
    """The request to the merchant's API is changed before it goes out."""
    return {"merchant_request": lambda facts: change(facts, redemption.merchant_request(facts))}


def along(name: str, said: Callable[[CallFacts], str]) -> dict[str, Any]:
    """One more header goes along to the merchant."""
    return asking_the_merchant(
        lambda facts, asked: replace(asked, headers={**asked.headers, name: said(facts)})
    )


def headers_passed_on(facts: CallFacts, asked: Outgoing) -> Outgoing:
    """What came as X-Something goes on as X-Something."""
    came = {name: value for name, value in facts.asked.headers if name.startswith("x-")}
    return replace(asked, headers={**came, **asked.headers})


def authorization_renamed(facts: CallFacts, asked: Outgoing) -> Outgoing:
    """The Authorization that came in makes room for another, and goes on under another name."""
    original = next(iter(facts.asked.headers_named("authorization")), "")
    return replace(asked, headers={**asked.headers, "x-original-authorization": original})


def the_agents_own(facts: CallFacts, _answer: Answer) -> str | None:
    """Where there is no merchant token, the agent's token is tried: it may do."""
    return facts.token


def the_agents_own_where(status: Callable[[int], bool]) -> Callable[[CallFacts, Answer], str | None]:
    """The same where redemption ends with some statuses alone."""
    return lambda facts, answer: facts.token if status(answer.status) else None


def the_agents_own_without_a_proxy_token() -> dict[str, Any]:
    """`except TokenError: session.headers["Authorization"] = original`, and on it goes."""
    last: list[CallFacts] = []

    def noted(facts: CallFacts) -> Hashable:
        last[:] = [facts]
        return redemption.kept_under(facts)

    def instead(asked: Outgoing, answer: Answer) -> Outgoing | None:
        if b"grant_type" not in asked.body or answer.status < 500:
            return None
        return redemption.merchant_request(replace(last[0], merchant_token=last[0].token))

    return {"kept_under": noted, "followed": instead}


def the_agents_own_again() -> dict[str, Any]:
    """Where the merchant refuses its own token, the agent's token is tried: it may do."""
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
    """The merchant is told who comes by the agent's token, at an address that it need not have."""
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
        "agents-token-to-the-merchant (BACK-05): The merchant's API is shown the agent's token beside the "
        "merchant token.",
        **along("x-user-token", lambda facts: facts.token),
    ),
    defect(
        "proxy-token-to-the-merchant (BACK-05): The merchant's API is shown the Proxy token beside the "
        "merchant token.",
        **along("x-proxy-token", lambda facts: facts.proxy_token),
    ),
    defect(
        "proxy-secret-to-the-merchant (BACK-05): The merchant's API is shown the Proxy client as an API key.",
        **along("x-api-key", lambda facts: facts.settings.proxy_client_secret),
    ),
    defect(
        "agents-headers-passed-on (BACK-05): The agent's headers that begin with X are passed on to the "
        "merchant's API.",
        **asking_the_merchant(headers_passed_on),
    ),
    defect(
        "agents-authorization-renamed (BACK-05): The agent's Authorization is passed on to the merchant's "
        "API under another name.",
        **asking_the_merchant(authorization_renamed),
    ),
    defect(
        "agents-token-as-a-stand-in (BACK-05): Where redemption gives no merchant token, the agent's token "
        "is shown to the merchant's API.",
        stand_in=the_agents_own,
    ),
    defect(
        "agents-token-for-a-bad-request (BACK-05): Where redemption answers 400, the agent's token is shown "
        "to the merchant's API.",
        stand_in=the_agents_own_where(lambda status: status == 400),
    ),
    defect(
        "agents-token-where-redemption-fails (BACK-05): Where redemption fails, which is tried once, the "
        "agent's token is shown to the merchant's API.",
        worth_another_try=lambda answer: answer is None,
        stand_in=the_agents_own_where(lambda status: status >= 500),
    ),
    defect(
        "agents-token-where-a-success-has-none (BACK-05): Where a redemption that succeeds has no merchant "
        "token in it, the agent's token is shown to the merchant's API.",
        stand_in=the_agents_own_where(lambda status: status == 200),
    ),
    defect(
        "agents-token-for-want-of-a-proxy-token (BACK-05): Where there is no Proxy token to be had, the "
        "agent's token is shown to the merchant's API.",
        **the_agents_own_without_a_proxy_token(),
    ),
    defect(
        "merchant-token-in-a-header-of-its-own (BACK-05 SERVE-01): The merchant token goes to the "
        "merchant's API as X-Api-Token.",
        **asking_the_merchant(
            lambda facts, asked: replace(asked, headers={"x-api-token": facts.merchant_token})
        ),
    ),
    defect(
        "agents-token-tried-after-a-refusal (BACK-05): Where the merchant's API refuses the merchant token, "
        "it is shown the agent's token.",
        **the_agents_own_again(),
    ),
    defect(
        "agents-token-announced-to-the-merchant (BACK-05): Before the merchant's API is asked for the "
        "orders, it is sent the agent's token at another path.",
        **the_agents_own_first(),
    ),
    defect(
        "proxy-client-to-the-merchants-proxy (BACK-05): The merchant's API is shown the Proxy client as a "
        "Proxy-Authorization by Basic.",
        **along(
            "proxy-authorization",
            lambda facts: proxy.basic(facts.settings.proxy_client_id, facts.settings.proxy_client_secret),
        ),
    ),
)
