"""Agents that lose their way between the challenge and the orders."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any
from urllib.parse import quote, urlsplit

from gateproof.reference.agent.policy import authorization, exchange, operation, registration
from gateproof.reference.agent.policy.authorization import Query
from gateproof.reference.agent.policy.discovery import Endpoints
from gateproof.reference.agent.policy.operation import Ask
from gateproof.reference.agent.policy.registration import Client
from gateproof.reference.agent.settings import Settings
from gateproof.reference.agent.wire import FORM, Answer, Failed, Outgoing
from gateproof.reference.defects.agent.row import defect

_OF_TOKENS = {"access_token", "id_token", "refresh_token", "token_type", "expires_in", "scope"}


def guessed(_challenges: Sequence[str], service_url: str) -> str:
    """The metadata are where they usually are."""
    return f"{service_url}/.well-known/oauth-protected-resource"


def first_in_the_challenge(pattern: str) -> Callable[[Sequence[str], str], str]:
    """The pointer is looked for in one form of the challenge alone."""

    def metadata_url(challenges: Sequence[str], _service_url: str) -> str:
        for value in challenges:
            if found := re.match(pattern, value):
                return found[1]
        raise Failed("the service does not say where its metadata are")

    return metadata_url


def built_in(server: str, document: Mapping[str, Any]) -> Endpoints:
    """The endpoints have the paths that they have elsewhere."""
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
    """A redirect with more than code and state is none."""
    if set(query) - {"code", "state"}:
        raise Failed("the redirect has parameters that nobody knows")
    return authorization.code_in(query, endpoints)


def as_it_is_written(query: Query, endpoints: Endpoints) -> str:
    """The code is taken from the address as it stands there, and encoded once more for the form."""
    return quote(authorization.code_in(query, endpoints), safe="")


def client_id_as_it_came(endpoints: Endpoints, parameters: Mapping[str, str]) -> str:
    """The client ID is put into the address without a thought for what some characters mean there."""
    client_id = parameters["client_id"]
    return authorization.authorization_url(endpoints, parameters).replace(
        f"client_id={quote(client_id, safe='')}", f"client_id={client_id}"
    )


def in_gzip_unread(settings: Settings, ask: Ask, given: Mapping[str, str]) -> Answer:
    """gzip is asked for, as a browser does, and what comes is read as it is."""
    return operation.operate(settings, ask, {"Accept-Encoding": "gzip, deflate", **given})


def with_a_lifetime(answer: Answer) -> dict[str, Any] | None:
    """`document["expires_in"]`, as other gateways have it."""
    tokens = exchange.tokens_in(answer)
    if tokens is not None and "expires_in" not in answer.document():
        raise Failed("the tokens have no expires_in")
    return tokens


def labelled_as_a_form(endpoints: Endpoints, record: dict[str, Any]) -> Outgoing:
    """The label that the HTTP library gives to whatever has a body."""
    asked = registration.registration_request(endpoints, record)
    return replace(asked, headers={**asked.headers, "Content-Type": FORM})


def with_nothing_else(answer: Answer) -> dict[str, Any] | None:
    """`Tokens(**document)`, of a class with the members that other gateways have."""
    tokens = exchange.tokens_in(answer)
    if tokens is not None and set(tokens) - _OF_TOKENS:
        raise Failed("the token answer has members that nobody knows")
    return tokens


def bearer_to_the_letter(answer: Answer) -> dict[str, Any] | None:
    """`document["token_type"] == "Bearer"`."""
    tokens = exchange.tokens_in(answer)
    if tokens is not None and tokens.get("token_type") != "Bearer":
        raise Failed("the tokens are of another type")
    return tokens


def json_to_the_letter(answer: Answer) -> Client:
    """`headers["content-type"] == "application/json"`."""
    if answer.headers_named("content-type") != ["application/json"]:
        raise Failed("the registration brought no JSON")
    return registration.registered(answer)


def broken_report(orders: Sequence[Any]) -> str:
    """The last line of the program has a mistake in it."""
    return str(orders[len(orders)])


DEFECTS = (
    defect("metadata-guessed (AGENT-01): The pointer in the challenge is not read.", metadata_url=guessed),
    defect(
        "pointer-first-alone (AGENT-01): The pointer is found where no other parameter stands before it.",
        metadata_url=first_in_the_challenge(r'Bearer resource_metadata="?([^",\s]+)'),
    ),
    defect("endpoints-built-in (AGENT-01): The endpoints are not read from discovery.", endpoints=built_in),
    defect("more-parameters-refused (AGENT-01): A redirect with `iss` is refused.", code_in=nothing_else),
    defect("code-not-decoded (AGENT-01): The code is not decoded.", code_in=as_it_is_written),
    defect(
        "client-id-not-encoded (AGENT-01): The client ID is not encoded in the address.",
        authorization_url=client_id_as_it_came,
    ),
    defect(
        "gzip-asked-for-and-not-read (AGENT-01): Answers in gzip are asked for, and cannot be read.",
        operate=in_gzip_unread,
    ),
    defect(
        "tokens-without-a-lifetime-refused (AGENT-01): Tokens that come without expires_in are none.",
        tokens_in=with_a_lifetime,
    ),
    defect(
        "registration-labelled-as-a-form (AGENT-01): A registration is JSON, and says that it is a form.",
        registration_request=labelled_as_a_form,
    ),
    defect(
        "unknown-members-refused (AGENT-01): A token answer with members that it does not know is none.",
        tokens_in=with_nothing_else,
    ),
    defect(
        "bearer-in-other-letters-refused (AGENT-01): Tokens of the type `bearer` are refused.",
        tokens_in=bearer_to_the_letter,
    ),
    defect(
        "json-with-a-charset-refused (AGENT-01): A registration whose answer is JSON with a charset is "
        "refused.",
        registered=json_to_the_letter,
    ),
    defect("gives-up-at-the-challenge (AGENT-01): A 401 is the end.", fresh_tokens=0),
    defect("crashes-at-the-end (AGENT-01): The orders are read, and then it crashes.", report=broken_report),
    defect(
        "discovery-of-rfc-8414 (AGENT-01): The gateway's document is looked for at the path of RFC 8414 "
        "alone.",
        discovery_url=lambda server: server.replace(
            urlsplit(server).path, f"/.well-known/oauth-authorization-server{urlsplit(server).path}"
        ),
    ),
)
