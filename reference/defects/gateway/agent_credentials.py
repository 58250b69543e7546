"""Gateways that issue tokens to unauthenticated agents, or read credentials from the URL."""

from __future__ import annotations

from base64 import b64decode
from binascii import Error
from collections.abc import Callable
from dataclasses import replace
from typing import Any
from urllib.parse import quote, unquote_plus

from starlette.types import ASGIApp

from gateproof.reference.defects.defect import instead, without
from gateproof.reference.defects.gateway.row import defect
from gateproof.reference.deviations.altered_answers import Answered, Asked, altering_answers
from gateproof.reference.gateway.gateway import Gateway
from gateproof.reference.gateway.policy import code_exchange as honest
from gateproof.reference.gateway.policy import proxy, registration
from gateproof.reference.gateway.policy.code_exchange import (
    AGENT_CHECKS,
    CODE_CHECKS,
    TOKEN_REQUEST_CHECKS,
    AgentCredentials,
    AgentFacts,
    CodeFacts,
    TokenRequestFacts,
)
from gateproof.reference.ids import Ids, fingerprint
from gateproof.reference.outcomes import Refusal, first_refusal


def secret_stored_as(change: Callable[[str], str]) -> dict[str, Any]:
    """Secrets are changed before they are stored and before they are compared."""

    def new_agent(facts: registration.RegistrationFacts, ids: Ids, now: float) -> registration.NewAgent:
        new = registration.new_agent(facts, ids, now)
        return replace(new, agent=replace(new.agent, secret=fingerprint(change(new.secret))))

    def check(facts: AgentFacts) -> Refusal | None:
        given = fingerprint(change(facts.credentials.secret))
        return None if facts.agent and given == facts.agent.secret else honest.agent_secret_is_right(facts)

    return {
        "new_agent": new_agent,
        "agent_checks": instead(AGENT_CHECKS, honest.agent_secret_is_right, check),
    }


def anybodys_secret() -> dict[str, Any]:
    """Accepts the secret of any registered agent."""
    known: set[str] = set()

    def new_agent(facts: registration.RegistrationFacts, ids: Ids, now: float) -> registration.NewAgent:
        new = registration.new_agent(facts, ids, now)
        known.add(new.agent.secret)
        return new

    def check(facts: AgentFacts) -> Refusal | None:
        right = facts.agent is not None and fingerprint(facts.credentials.secret) in known
        return None if right else honest.agent_secret_is_right(facts)

    return {
        "new_agent": new_agent,
        "agent_checks": instead(AGENT_CHECKS, honest.agent_secret_is_right, check),
    }


def secret_if_there_is_one(facts: TokenRequestFacts) -> AgentCredentials | Refusal:
    given = facts.value("client_secret")
    return AgentCredentials(client_id=facts.value("client_id"), secret=given)


def client_by_its_code() -> dict[str, Any]:
    """A request without client_id is treated as from the agent that the code was issued to."""
    held: list[Gateway] = []

    def around(app: ASGIApp, gateway: Gateway) -> ASGIApp:
        held[:] = [gateway]
        return app

    def credentials(facts: TokenRequestFacts) -> AgentCredentials | Refusal:
        code = held[0].store.codes.get(fingerprint(facts.value("code")))
        if facts.value("client_id") or facts.authorization is not None or code is None:
            return honest.agent_credentials(facts)
        return AgentCredentials(client_id=code.agent_id, secret="")

    return {
        "around": around,
        "agent_credentials": credentials,
        "agent_checks": instead(AGENT_CHECKS, honest.agent_secret_is_right, right_or_missing),
    }


def right_or_missing(facts: AgentFacts) -> Refusal | None:
    return honest.agent_secret_is_right(facts) if facts.credentials.secret else None


def basic_accepted(*, with_id: bool = False) -> Callable[[TokenRequestFacts], AgentCredentials | Refusal]:
    """Accepts credentials in a Basic header; with `with_id` only if the form has a client_id."""

    def credentials(facts: TokenRequestFacts) -> AgentCredentials | Refusal:
        scheme, _, encoded = (facts.authorization or "").partition(" ")
        if scheme.lower() != "basic" or (with_id and not facts.value("client_id")):
            return honest.agent_credentials(facts)
        try:
            client_id, _, given = b64decode(encoded).decode().partition(":")
        except (Error, ValueError):
            return honest.agent_credentials(facts)
        return AgentCredentials(client_id=unquote_plus(client_id), secret=unquote_plus(given))

    return credentials


def basic_alone(facts: TokenRequestFacts) -> AgentCredentials | Refusal:
    """Ignores credentials in the form."""
    if facts.authorization is None:
        return Refusal(
            status=401,
            error="invalid_client",
            description="agents authenticate with HTTP Basic",
            challenge='Basic realm="agents"',
        )
    return basic_accepted()(facts)


def exchanged_by_a_proxy_client() -> dict[str, Any]:
    """With the credentials of any Proxy client, a request can act for the agent that the form names."""
    held: list[Gateway] = []

    def around(app: ASGIApp, gateway: Gateway) -> ASGIApp:
        held[:] = [gateway]
        return app

    def credentials(facts: TokenRequestFacts) -> AgentCredentials | Refusal:
        shown = proxy.proxy_credentials(facts)
        client = None if isinstance(shown, Refusal) else proxy.proxy_client_named(held[0].store, shown)
        if isinstance(shown, Refusal) or client is None or not facts.value("client_id"):
            return honest.agent_credentials(facts)
        refusal = proxy.proxy_secret_is_right(proxy.ProxyClientFacts(credentials=shown, client=client))
        return refusal or AgentCredentials(client_id=facts.value("client_id"), secret="")

    return {
        "around": around,
        "agent_credentials": credentials,
        "agent_checks": instead(AGENT_CHECKS, honest.agent_secret_is_right, right_or_missing),
    }


def without_error(refusal: Refusal | None) -> Refusal | None:
    return replace(refusal, error="") if refusal else None


def of_an_agent_with_the_same_address(facts: CodeFacts) -> Refusal | None:
    if facts.code is not None and facts.code.redirect_uri in facts.agent.redirect_uris:
        return None
    return honest.code_is_the_agents_own(facts)


def redirected_to_sign_in(asked: Asked, answered: Answered, gateway: Gateway) -> Answered:
    """Redirects a GET to a sign-in page, with the whole query in the address to return to."""
    if asked.method != "GET" or not asked.path.endswith("/oauth2/token"):
        return answered
    back = quote(f"{asked.path}?{asked.query}", safe="")
    return Answered(status=302, headers=(("location", f"{gateway.core_url}/login?next={back}"),), body=b"")


CLIENTS = (
    defect(
        "agent-secret-not-checked (CODE-07): The gateway accepts any secret for a known agent.",
        agent_checks=without(AGENT_CHECKS, honest.agent_secret_is_right),
    ),
    defect(
        "agent-secret-optional (CODE-07 CODE-09 CODE-08): The gateway checks a secret only if the request "
        "has one.",
        agent_credentials=secret_if_there_is_one,
        agent_checks=instead(AGENT_CHECKS, honest.agent_secret_is_right, right_or_missing),
    ),
    defect(
        "client-by-its-code (CODE-07 CODE-09): The gateway treats an exchange without client_id as from the "
        "agent that the code was issued to, and requires no secret.",
        **client_by_its_code(),
    ),
    defect(
        "agent-secret-by-its-beginning (CODE-07): The gateway compares only the first sixteen characters of "
        "a secret.",
        **secret_stored_as(lambda given: given[:16]),
    ),
    defect(
        "agent-secret-in-any-case (CODE-07): The gateway compares secrets case-insensitively.",
        **secret_stored_as(str.casefold),
    ),
    defect(
        "secret-of-any-agent (CODE-07): The gateway accepts the secret of any other agent.",
        **anybodys_secret(),
    ),
    defect(
        "code-of-any-agent (CODE-08): An agent can exchange a code that was issued to another agent.",
        code_checks=without(CODE_CHECKS, honest.code_is_the_agents_own),
    ),
    defect(
        "code-of-agents-with-one-address (CODE-08): An agent can exchange the code of another agent if it "
        "registered the same redirect URI.",
        code_checks=instead(CODE_CHECKS, honest.code_is_the_agents_own, of_an_agent_with_the_same_address),
    ),
    defect(
        "proxy-client-vouches-for-an-agent (CODE-08): With the credentials of a Proxy client, a request can "
        "exchange the code of the agent that its form names.",
        **exchanged_by_a_proxy_client(),
    ),
    defect(
        "wrong-agent-gets-no-error (CODE-11): The refusal of a wrong client ID or secret has no error code.",
        agent_checks=(lambda facts: without_error(first_refusal(AGENT_CHECKS, facts)),),
    ),
    defect(
        "agents-by-basic-alone (REG-07 CODE-01): Agents get tokens only with HTTP Basic; credentials in the "
        "form are refused.",
        agent_credentials=basic_alone,
    ),
    defect(
        "basic-for-agents (CODE-09): The gateway accepts HTTP Basic from agents.",
        agent_credentials=basic_accepted(),
    ),
    defect(
        "basic-for-agents-that-name-themselves (CODE-09): The gateway accepts HTTP Basic from agents if the "
        "form has a client_id.",
        agent_credentials=basic_accepted(with_id=True),
    ),
)

PLACES = (
    defect(
        "tokens-by-get (CODE-15): The token endpoint accepts a GET with the fields in the query.",
        token_methods=("GET", "POST"),
        token_fields=lambda form, query: form or query,
        token_request_checks=without(TOKEN_REQUEST_CHECKS, honest.nothing_is_in_the_url),
    ),
    defect(
        "get-sent-on-with-its-secret (CODE-15): The token endpoint redirects a GET to a sign-in page, with "
        "the whole query, including the secret, in the address.",
        around=altering_answers(redirected_to_sign_in),
    ),
    defect(
        "credentials-from-the-url (CODE-15): The token endpoint accepts credentials in the query.",
        token_fields=lambda form, query: (*form, *query),
        token_request_checks=without(TOKEN_REQUEST_CHECKS, honest.nothing_is_in_the_url),
    ),
    defect(
        "first-of-doubled-fields (CODE-15): If a form field occurs twice, the token endpoint uses the first "
        "value.",
        token_request_checks=without(TOKEN_REQUEST_CHECKS, honest.no_field_is_doubled),
    ),
    defect(
        "last-of-doubled-fields (CODE-15): If a form field occurs twice, the token endpoint uses the last "
        "value.",
        token_fields=lambda form, _query: tuple(dict(form).items()),
    ),
)

DEFECTS = (*CLIENTS, *PLACES)
