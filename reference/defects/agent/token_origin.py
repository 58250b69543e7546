"""Agents that send the access token to another origin than the service's."""

from __future__ import annotations

import json
import os
import re
import ssl
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any
from urllib.parse import urlsplit
from urllib.request import Request, urlopen

from gateproof.reference.agent.policy import authorization, discovery, exchange, operation
from gateproof.reference.agent.policy.authorization import Attempt
from gateproof.reference.agent.policy.exchange import ExchangeFacts
from gateproof.reference.agent.policy.operation import Ask
from gateproof.reference.agent.policy.registration import Client
from gateproof.reference.agent.settings import Settings
from gateproof.reference.agent.wire import Answer, Outgoing, form, redirected
from gateproof.reference.defects.agent.row import defect
from gateproof.reference.defects.agent.stored_state import state_file

_LASTING = 308
_NEXT = re.compile(r'<([^>]+)>;\s*rel="next"')


def following_where(may_follow: Callable[[Outgoing, Answer, str], bool]) -> dict[str, Any]:
    """Follows a redirect of a call with a token, with everything that was sent, if `may_follow` allows."""

    def followed(asked: Outgoing, answer: Answer) -> Outgoing | None:
        url = redirected(asked, answer)
        if url is None or "Authorization" not in asked.headers or not may_follow(asked, answer, url):
            return None
        return replace(asked, url=without_user_info(url))

    return {"followed": followed}


def without_user_info(url: str) -> str:
    """The URL that a client connects to."""
    parts = urlsplit(url)
    return parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl()


def on_one_host(asked: Outgoing, _answer: Answer, url: str) -> bool:
    """Compares the host, but not the port."""
    return urlsplit(url).hostname == urlsplit(asked.url).hostname


def begins_alike(_asked: Outgoing, _answer: Answer, url: str) -> bool:
    """Compares only the beginning of the URL, as text."""
    return url.startswith(os.environ["GATEPROOF_SERVICE_URL"].rstrip("/"))


def is_a_path(_asked: Outgoing, answer: Answer, _url: str) -> bool:
    """Regards a Location that begins with a slash as a path on the same host."""
    return answer.headers_named("location")[0].startswith("/")


def after_the_first_hop(asked: Outgoing, _answer: Answer, url: str) -> bool:
    """Compares the origin only at the first redirect."""
    return not asked.url.endswith("/orders") or urlsplit(url)[:2] == urlsplit(asked.url)[:2]


def once_kept(_asked: Outgoing, _answer: Answer, _url: str) -> bool:
    """Follows every redirect if the install has a token."""
    return been_authorized.get("before", False)


been_authorized: dict[str, bool] = {}


def noting_what_is_kept(run: Callable[[], int]) -> int:
    been_authorized["before"] = state_file("tokens.json").exists()
    return run()


def kept_token() -> str | None:
    kept = state_file("tokens.json")
    found = list(json.loads(kept.read_text()).values()) if kept.exists() else []
    return str(found[0]["access_token"]) if found else None


def asked_with_the_token(server: str) -> str:
    """Sends the token with the discovery request, like a client that adds it to every request."""
    url, token = discovery.discovery_url(server), kept_token()
    if token is not None:
        trust = ssl.create_default_context(cafile=os.environ["GATEPROOF_CA_FILE"])
        headers = operation.bearer({"access_token": token})
        with suppress(OSError):
            urlopen(Request(url, headers=headers), context=trust, timeout=10).close()  # noqa: S310
    return url


def exchanged_with_the_token(facts: ExchangeFacts) -> Outgoing:
    asked, token = exchange.token_request(facts), kept_token()
    own = operation.bearer({"access_token": token}) if token is not None else {}
    return replace(asked, headers={**asked.headers, **own})


def with_a_hint(settings: Settings, client: Client, attempt: Attempt) -> dict[str, str]:
    """Sends the stored access token as if it were the ID token that identifies the user."""
    whole, token = authorization.authorization_parameters(settings, client, attempt), kept_token()
    return whole | ({"id_token_hint": token} if token is not None else {})


def introspected(unhelpful: int) -> dict[str, Any]:
    """Sends the token to the gateway for introspection when the service answers with this status."""
    endpoint: list[str] = []

    def told(step: str, facts: Mapping[str, Any]) -> None:
        if step == "exchange":
            endpoint[:] = [f"{facts['facts'].endpoints.token}/introspect"]

    def operate(settings: Settings, ask: Ask, given: Mapping[str, str]) -> Answer:
        answer = operation.operate(settings, ask, given)
        if answer.status == unhelpful and given and endpoint:
            ask(form(endpoint[0], {"token": given["Authorization"].removeprefix("Bearer ")}))
        return answer

    return {"told": told, "operate": operate}


def page_about_the_install() -> str:
    """Shows the stored tokens on the callback page."""
    kept = state_file("tokens.json")
    return f"signed in; so far there was {kept.read_text() if kept.exists() else 'nothing'}"


def next_page_from(link: Callable[[Answer], str]) -> Callable[[Settings, Ask, Mapping[str, str]], Answer]:
    """Asks for the next page of the orders with the headers of the first."""

    def operate(settings: Settings, ask: Ask, authorization: Mapping[str, str]) -> Answer:
        answer = operation.operate(settings, ask, authorization)
        if answer.status == 200 and (page := link(answer)):
            ask(Outgoing(method="GET", url=page, headers=dict(authorization)))
        return answer

    return operate


def linked_in_the_header(answer: Answer) -> str:
    links = (found for value in answer.headers_named("link") if (found := _NEXT.search(value)))
    return next((found[1] for found in links), "")


DEFECTS = (
    defect(
        "next-page-of-the-document (AGENT-18): The agent asks for the next page at the address in the "
        "orders, with its token.",
        operate=next_page_from(lambda answer: str(answer.document().get("next", ""))),
    ),
    defect(
        "next-page-of-the-link-header (AGENT-18): The agent asks for the next page at the address in the "
        "header Link, with its token.",
        operate=next_page_from(linked_in_the_header),
    ),
    defect(
        "token-on-the-page (AGENT-18): The callback page of a later sign-in shows the previous access token.",
        page=page_about_the_install,
    ),
    defect(
        "token-to-another-port (AGENT-18): The agent follows a redirect to another port of the service's "
        "host with the token.",
        **following_where(on_one_host),
    ),
    defect(
        "token-where-the-address-begins-alike (AGENT-18): The agent follows a redirect with the token if "
        "the URL begins with the text of the service's URL.",
        **following_where(begins_alike),
    ),
    defect(
        "token-where-the-redirect-has-no-scheme (AGENT-18): The agent follows a redirect with the token if "
        "Location begins with a slash, even if it names another host.",
        **following_where(is_a_path),
    ),
    defect(
        "token-at-the-second-redirect (AGENT-18): The agent compares the origin at the first redirect only, "
        "and follows the next one with the token.",
        **following_where(after_the_first_hop),
    ),
    defect(
        "token-by-308-alone (AGENT-18): The agent follows 308 redirects, and no others, to any host with "
        "the token.",
        **following_where(lambda _asked, answer, _url: answer.status == _LASTING),
    ),
    defect(
        "kept-token-redirected (AGENT-18): Once an install has a token, the agent follows redirects to any "
        "host with the token.",
        around=noting_what_is_kept,
        **following_where(once_kept),
    ),
    defect(
        "discovery-with-the-kept-token (AGENT-18 AGENT-13): The agent sends a stored token when it requests "
        "the gateway's discovery document.",
        discovery_url=asked_with_the_token,
    ),
    defect(
        "exchange-with-the-kept-token (AGENT-18 AGENT-13): The agent sends a stored access token with the "
        "exchange.",
        token_request=exchanged_with_the_token,
    ),
    defect(
        "kept-token-as-a-hint (AGENT-18): The authorization URL contains a stored access token as "
        "id_token_hint.",
        authorization_parameters=with_a_hint,
    ),
    defect(
        "token-introspected-where-it-is-forbidden (AGENT-18): When the service answers 403, the agent sends "
        "the token to the gateway for introspection.",
        **introspected(403),
    ),
)
