"""Other legal forms of an agent's requests."""

from __future__ import annotations

import gzip
import os
import random
import secrets
import ssl
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any
from urllib.parse import parse_qsl
from urllib.request import Request, urlopen

from gateproof.reference.agent.browser import open_browser
from gateproof.reference.agent.policy import authorization, discovery, exchange, mcp, operation, registration
from gateproof.reference.agent.policy.authorization import Attempt, Octets
from gateproof.reference.agent.policy.discovery import Endpoints
from gateproof.reference.agent.policy.exchange import ExchangeFacts
from gateproof.reference.agent.policy.operation import Ask, Tokens
from gateproof.reference.agent.policy.registration import Client
from gateproof.reference.agent.policy.renewal import read_part, refreshed
from gateproof.reference.agent.settings import Settings
from gateproof.reference.agent.wire import Answer, Failed, Outgoing, form, may_ask
from gateproof.reference.defects.agent.discovery import first_in_the_challenge
from gateproof.reference.variants.variant import variant

UNRESERVED = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~"

_BASE36 = "0123456789abcdefghijklmnopqrstuvwxyz"


def _posted(settings: Settings, ask: Ask, given: Mapping[str, str]) -> Answer:
    headers = {"Content-Type": "application/json", **given}
    return ask(Outgoing(method="POST", url=f"{settings.service_url}/orders", headers=headers, body=b"{}"))


def _metadata_first(settings: Settings, ask: Ask, given: Mapping[str, str]) -> Answer:
    """Requests the well-known metadata address before it calls the service."""
    ask(Outgoing(method="GET", url=f"{settings.service_url}/.well-known/oauth-protected-resource"))
    return operation.operate(settings, ask, given)


def registers_more(settings: Settings) -> dict[str, Any]:
    return registration.registration_record(settings) | {
        "grant_types": ["authorization_code", "refresh_token"],
        "client_uri": "https://agent.example",
        "application_type": "web",
        "scope": "openid",
        "software_id": "orders-agent",
    }


def _asks_for_more() -> dict[str, Any]:
    """Sends a nonce and more, and checks the ID token against it, as OpenID Connect clients do."""
    asked: list[str] = []

    def parameters(settings: Settings, client: Client, attempt: Attempt) -> dict[str, str]:
        asked[:] = [secrets.token_urlsafe(16)]
        more = {"resource": settings.service_url, "nonce": asked[0], "prompt": "consent", "max_age": "600"}
        return more | authorization.authorization_parameters(settings, client, attempt)

    def tokens_in(answer: Answer) -> dict[str, Any] | None:
        tokens = exchange.tokens_in(answer)
        if tokens is not None:
            header, claims = (read_part(tokens["id_token"], part) for part in (0, 1))
            if header.get("alg") != "RS256" or [claims.get("nonce")] != asked or "auth_time" not in claims:
                raise Failed("the ID token is not the one that was asked for")
        return tokens

    return {"authorization_parameters": parameters, "tokens_in": tokens_in}


def _other_order(settings: Settings, client: Client, attempt: Attempt) -> dict[str, str]:
    whole = authorization.authorization_parameters(settings, client, attempt)
    scope = " ".join((*settings.scopes, "profile", "openid"))
    return dict(sorted((whole | {"scope": scope}).items(), reverse=True))


def _spelled_out(endpoints: Endpoints, parameters: Mapping[str, str]) -> str:
    """Percent-encodes a letter of a parameter name, which is equivalent (RFC 3986 section 2.3)."""
    url = authorization.authorization_url(endpoints, parameters)
    return url.replace("?scope=", "?%73cope=").replace("&scope=", "&%73cope=")


def _exchanges_more(facts: ExchangeFacts) -> Outgoing:
    fields = dict(parse_qsl(exchange.token_request(facts).body.decode()))
    return form(facts.endpoints.token, fields | {"resource": facts.settings.service_url, "scope": "openid"})


def _in_hexadecimal(octets: Octets) -> Attempt:
    return Attempt(verifier=octets(32).hex(), state=octets(16).hex())


def _of_unreserved(_octets: Octets) -> Attempt:
    chance = random.SystemRandom()
    verifier = "".join(chance.choice(UNRESERVED) for _ in range(128))
    return Attempt(verifier=verifier, state="".join(chance.choice(UNRESERVED) for _ in range(48)))


def _in_decimal(octets: Octets) -> Attempt:
    """Decimal numbers without leading zeros."""
    verifier, state = (str(int.from_bytes(octets(length), "big")) for length in (32, 16))
    return Attempt(verifier=verifier, state=state)


def _in_base36(octets: Octets) -> Attempt:
    """Numbers in base 36, as JavaScript writes them."""

    def written(number: int) -> str:
        return (written(number // 36) if number > 35 else "") + _BASE36[number % 36]

    verifier, state = (written(int.from_bytes(octets(length), "big")) for length in (32, 16))
    return Attempt(verifier=verifier, state=state)


def _state_with_a_place(octets: Octets) -> Attempt:
    attempt = authorization.fresh_attempt(octets)
    return replace(attempt, state=f"orders/list.{attempt.state}")


def _in_gzip(settings: Settings, ask: Ask, given: Mapping[str, str]) -> Answer:
    """Accepts answers in gzip, and decompresses them."""
    answer = operation.operate(settings, ask, {"Accept-Encoding": "gzip;q=0.5, identity", **given})
    packed = "gzip" in answer.headers_named("content-encoding")
    return replace(answer, body=gzip.decompress(answer.body)) if packed else answer


def _no_gzip(settings: Settings, ask: Ask, given: Mapping[str, str]) -> Answer:
    """Refuses gzip by an Accept-Encoding with q=0.0."""
    return operation.operate(settings, ask, {"Accept-Encoding": "deflate, gzip;q=0.0", **given})


def _looks_first(command: str | None, url: str, say: Callable[[str], None]) -> Callable[[], bool]:
    """Requests the authorization URL itself first, and fails if the gateway is down."""
    trust = ssl.create_default_context(cafile=os.environ["GATEPROOF_CA_FILE"])
    try:
        urlopen(url, context=trust, timeout=10).close()  # noqa: S310
    except OSError as problem:
        raise Failed(f"the gateway shows no page: {type(problem).__name__}") from None
    return open_browser(command, url, say)


def _is_there(url: str) -> bool:
    """Sends a HEAD for a document before it is fetched."""
    if "/.well-known/" not in url:
        return True
    trust = ssl.create_default_context(cafile=os.environ["GATEPROOF_CA_FILE"])
    try:
        urlopen(Request(url, method="HEAD"), context=trust, timeout=10).close()  # noqa: S310
    except OSError:
        return False
    return True


def _first_refresh_token(
    ask: Ask, endpoints: Endpoints, client: Client, kept: Tokens
) -> dict[str, Any] | None:
    """Keeps the refresh token of the first authorization; if it is refused, the user has to authorize."""
    tokens = refreshed(ask, endpoints, client, kept)
    return tokens and tokens | {"refresh_token": kept["refresh_token"]}


def _keeping_the_rest(ask: Ask, endpoints: Endpoints, client: Client, kept: Tokens) -> dict[str, Any] | None:
    """Keeps stored members that the refresh does not return."""
    tokens = refreshed(ask, endpoints, client, kept)
    return tokens and {**kept, **tokens}


def _again_if_it_fails(asked: Outgoing, answer: Answer) -> Outgoing | None:
    """Repeats a request after a 5xx, because the server may not have seen the code."""
    return asked if answer.status >= 500 else None


VARIANTS = (
    variant("over-mcp: the operation is an MCP tool call", operate=mcp.call_tool),
    variant(
        "one-fresh-token-over-mcp: the operation is an MCP tool call, and the agent gives up when the first "
        "fresh token is refused",
        operate=mcp.call_tool,
        fresh_tokens=1,
    ),
    variant(
        "a-token-for-every-session: the operation is an MCP tool call, and the agent stores no tokens and "
        "gives up when the first fresh token is refused",
        operate=mcp.call_tool,
        fresh_tokens=1,
        keeps_tokens=False,
    ),
    variant(
        "pointer-in-quotes-alone: the agent reads resource_metadata only in quotes, as the grammar of HTTP "
        "requires",
        metadata_url=first_in_the_challenge(r'.*resource_metadata="([^"]+)"'),
    ),
    variant("by-post: the operation is a POST", operate=_posted),
    variant(
        "metadata-first: the agent requests the well-known metadata address before it calls the service",
        operate=_metadata_first,
    ),
    variant(
        "bearer-in-lower-case: the agent writes the name and the scheme of the Authorization header in "
        "lower case",
        bearer=lambda tokens: {"authorization": f"bearer {tokens['access_token']}"} if tokens else {},
    ),
    variant("registers-more: the registration has additional members", registration_record=registers_more),
    variant(
        "asks-for-more: the authorization request has additional parameters, and the agent checks the nonce "
        "of the ID token",
        **_asks_for_more(),
    ),
    variant(
        "in-another-order: parameters and scopes are in another order",
        authorization_parameters=_other_order,
    ),
    variant(
        "spells-names-out: the agent percent-encodes a letter of a parameter name in the query",
        authorization_url=_spelled_out,
    ),
    variant("exchanges-more: the exchange has additional fields", token_request=_exchanges_more),
    variant("in-decimal: verifier and state are decimal numbers", fresh_attempt=_in_decimal),
    variant(
        "in-base36: verifier and state consist of digits and lower-case letters", fresh_attempt=_in_base36
    ),
    variant("in-hexadecimal: verifier and state are written in hexadecimal", fresh_attempt=_in_hexadecimal),
    variant(
        "of-unreserved-characters: verifier and state use all allowed characters",
        fresh_attempt=_of_unreserved,
    ),
    variant("state-with-a-place: the state begins with a constant part", fresh_attempt=_state_with_a_place),
    variant(
        "refreshes: the agent refreshes a refused token before it asks the user",
        renewed=refreshed,
        worth_keeping=dict,
    ),
    variant(
        "keeps-its-first-refresh-token: the agent refreshes a refused token, and ignores the new refresh "
        "token of a refresh",
        renewed=_first_refresh_token,
        worth_keeping=dict,
    ),
    variant(
        "keeps-what-a-refresh-leaves-out: the agent refreshes a refused token, and keeps the members that "
        "the refresh does not return",
        renewed=_keeping_the_rest,
        worth_keeping=dict,
    ),
    variant("reads-gzip: the agent accepts answers in gzip", operate=_in_gzip),
    variant("reads-no-gzip: the agent says that it does not accept gzip", operate=_no_gzip),
    variant(
        "looks-at-the-page-first: the agent requests the authorization URL itself before it opens the "
        "browser",
        open_browser=_looks_first,
    ),
    variant(
        "reads-metadata-in-the-clear: the agent accepts metadata in plain HTTP, and sends no credential "
        "there",
        may_ask=lambda url: may_ask(url) or "/.well-known/oauth-protected-resource" in url,
    ),
    variant(
        "asks-by-head-first: the agent sends a HEAD for each document, and fetches it only if that is "
        "successful",
        may_ask=lambda url: may_ask(url) and _is_there(url),
    ),
    variant(
        "exchanges-again-on-failure: the agent repeats an exchange that failed with 5xx",
        sent_again=_again_if_it_fails,
    ),
    variant(
        "takes-the-last-gateway: the agent uses the last authorization server in the metadata",
        authorization_server=lambda metadata: discovery.authorization_server(
            {"authorization_servers": metadata.get("authorization_servers", [])[-1:]}
        ),
    ),
    variant(
        "issuer-not-compared: the agent ignores the `iss` of the redirect",
        code_in=lambda query, endpoints: authorization.code_in({**query, "iss": ()}, endpoints),
    ),
)
