"""Agents that fail at valid documents and responses between the challenge and the orders."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any
from urllib.parse import quote, urlsplit

from gateproof.reference.agent.policy import authorization, discovery, exchange, operation, registration
from gateproof.reference.agent.policy.authorization import Query
from gateproof.reference.agent.policy.discovery import Endpoints
from gateproof.reference.agent.policy.operation import Ask
from gateproof.reference.agent.policy.registration import Client
from gateproof.reference.agent.settings import Settings
from gateproof.reference.agent.wire import FORM, Answer, Failed, Outgoing
from gateproof.reference.defects.agent.row import defect

_OF_TOKENS = {"access_token", "id_token", "refresh_token", "token_type", "expires_in", "scope"}


def guessed(_challenges: Sequence[str], service_url: str) -> str:
    """Ignores the challenge and uses the well-known address."""
    return f"{service_url}/.well-known/oauth-protected-resource"


def first_in_the_challenge(pattern: str) -> Callable[[Sequence[str], str], str]:
    """Finds the pointer only in a challenge that matches `pattern`."""

    def metadata_url(challenges: Sequence[str], _service_url: str) -> str:
        for value in challenges:
            if found := re.match(pattern, value):
                return found[1]
        raise Failed("the service does not say where its metadata are")

    return metadata_url


def each_part_one_pair(challenges: Sequence[str], _service_url: str) -> str:
    """Splits at commas, also inside quotes; each part has to be one pair."""
    for value in challenges:
        pairs = [part.strip().split("=") for part in value.partition(" ")[2].split(",")]
        if any(len(pair) != 2 for pair in pairs):
            raise Failed("the challenge of the service cannot be read")
        if pointer := dict(pairs).get("resource_metadata"):
            return pointer.strip('"')
    raise Failed("the service does not say where its metadata are")


def without_its_query(challenges: Sequence[str], service_url: str) -> str:
    parts = urlsplit(discovery.metadata_url(challenges, service_url))
    return f"{parts.scheme}://{parts.netloc}{parts.path}"


def built_in(server: str, document: Mapping[str, Any]) -> Endpoints:
    """Builds the endpoints from fixed paths."""
    parts = urlsplit(server)
    base = f"{parts.scheme}://{parts.netloc}"
    return Endpoints(
        authorization_server=server,
        issuer=str(document.get("issuer")),
        registration=f"{base}/api/register",
        authorization=f"{server}/oauth2/auth",
        token=f"{document.get('issuer')}/oauth2/token",
    )


def nothing_else(query: Query, endpoints: Endpoints) -> str:
    """Refuses a redirect with parameters other than code and state."""
    if set(query) - {"code", "state"}:
        raise Failed("the redirect has parameters that nobody knows")
    return authorization.code_in(query, endpoints)


def as_it_is_written(query: Query, endpoints: Endpoints) -> str:
    """Encodes the code once more, like an agent that does not decode the redirect's query."""
    return quote(authorization.code_in(query, endpoints), safe="")


def client_id_as_it_came(endpoints: Endpoints, parameters: Mapping[str, str]) -> str:
    """Puts the client ID into the URL without encoding it."""
    client_id = parameters["client_id"]
    return authorization.authorization_url(endpoints, parameters).replace(
        f"client_id={quote(client_id, safe='')}", f"client_id={client_id}"
    )


def in_gzip_unread(settings: Settings, ask: Ask, given: Mapping[str, str]) -> Answer:
    """Requests gzip, as a browser does, but does not decompress the answer."""
    return operation.operate(settings, ask, {"Accept-Encoding": "gzip, deflate", **given})


def with_a_lifetime(answer: Answer) -> dict[str, Any] | None:
    """Requires `expires_in` in the token response."""
    tokens = exchange.tokens_in(answer)
    if tokens is not None and "expires_in" not in answer.document():
        raise Failed("the tokens have no expires_in")
    return tokens


def labelled_as_a_form(endpoints: Endpoints, record: dict[str, Any]) -> Outgoing:
    """Sends the JSON with the Content-Type that the HTTP library uses by default."""
    asked = registration.registration_request(endpoints, record)
    return replace(asked, headers={**asked.headers, "Content-Type": FORM})


def with_nothing_else(answer: Answer) -> dict[str, Any] | None:
    """Calls `Tokens(**document)`, whose class knows only the members of other gateways."""
    tokens = exchange.tokens_in(answer)
    if tokens is not None and set(tokens) - _OF_TOKENS:
        raise Failed("the token answer has members that nobody knows")
    return tokens


def bearer_to_the_letter(answer: Answer) -> dict[str, Any] | None:
    """Compares `document["token_type"] == "Bearer"`."""
    tokens = exchange.tokens_in(answer)
    if tokens is not None and tokens.get("token_type") != "Bearer":
        raise Failed("the tokens are of another type")
    return tokens


def json_to_the_letter(answer: Answer) -> Client:
    """Compares `headers["content-type"] == "application/json"`."""
    if answer.headers_named("content-type") != ["application/json"]:
        raise Failed("the registration brought no JSON")
    return registration.registered(answer)


def broken_report(orders: Sequence[Any]) -> str:
    """Crashes with an IndexError after the orders have been read."""
    return str(orders[len(orders)])


def usual_address_first(settings: Settings, ask: Ask, given: Mapping[str, str]) -> Answer:
    """Reads the metadata at the usual address before any call, and once more after a challenge."""
    usual = guessed((), settings.service_url)
    if given or ask(Outgoing(method="GET", url=usual)).status != 200:
        return operation.operate(settings, ask, given)
    return Answer(status=401)


DEFECTS = (
    defect(
        "pointer-ignored-after-the-usual-address (AGENT-01): The agent reads the metadata at the usual "
        "address before any call, and never at the address in a challenge.",
        operate=usual_address_first,
        metadata_url=guessed,
    ),
    defect(
        "pointer-ignored (AGENT-01): The agent ignores the pointer in the challenge and uses the "
        "well-known path.",
        metadata_url=guessed,
    ),
    defect(
        "pointer-first-alone (AGENT-01): The agent finds resource_metadata only if it is the first "
        "parameter of the challenge.",
        metadata_url=first_in_the_challenge(r'Bearer resource_metadata="?([^",\s]+)'),
    ),
    defect(
        "challenge-of-plain-pairs (AGENT-01): The agent gives up at a challenge with a comma or an equals "
        "sign inside quotes.",
        metadata_url=each_part_one_pair,
    ),
    defect(
        "pointer-without-its-query (AGENT-01): The agent requests the metadata without the query of the "
        "pointer.",
        metadata_url=without_its_query,
    ),
    defect(
        "endpoints-built-in (AGENT-01): The agent uses fixed endpoint paths instead of those in the "
        "discovery document.",
        endpoints=built_in,
    ),
    defect(
        "more-parameters-refused (AGENT-01): The agent refuses a redirect with additional parameters such "
        "as `iss`.",
        code_in=nothing_else,
    ),
    defect(
        "code-not-decoded (AGENT-01): The agent does not percent-decode the code in the redirect.",
        code_in=as_it_is_written,
    ),
    defect(
        "client-id-not-encoded (AGENT-01): The agent does not percent-encode the client ID in the "
        "authorization URL.",
        authorization_url=client_id_as_it_came,
    ),
    defect(
        "gzip-asked-for-and-not-read (AGENT-01): The agent requests gzip from the service, but cannot "
        "decompress the answer.",
        operate=in_gzip_unread,
    ),
    defect(
        "tokens-without-a-lifetime-refused (AGENT-01): The agent refuses a token response without "
        "expires_in.",
        tokens_in=with_a_lifetime,
    ),
    defect(
        "registration-labelled-as-a-form (AGENT-01): The agent sends its registration as JSON with the "
        "Content-Type of a form.",
        registration_request=labelled_as_a_form,
    ),
    defect(
        "unknown-members-refused (AGENT-01): The agent refuses a token response with unknown members.",
        tokens_in=with_nothing_else,
    ),
    defect(
        "bearer-in-other-letters-refused (AGENT-01): The agent accepts only the token_type `Bearer`, not "
        "`bearer`.",
        tokens_in=bearer_to_the_letter,
    ),
    defect(
        "json-with-a-charset-refused (AGENT-01): The agent refuses a registration response whose "
        "Content-Type has a charset.",
        registered=json_to_the_letter,
    ),
    defect(
        "gives-up-at-the-challenge (AGENT-01): The agent fails at the 401 challenge instead of authorizing.",
        fresh_tokens=0,
    ),
    defect(
        "crashes-at-the-end (AGENT-01): The agent crashes after it has read the orders.", report=broken_report
    ),
    defect(
        "discovery-of-rfc-8414 (AGENT-01): The agent requests the discovery document only at the path of "
        "RFC 8414.",
        discovery_url=lambda server: server.replace(
            urlsplit(server).path, f"/.well-known/oauth-authorization-server{urlsplit(server).path}"
        ),
    ),
)
