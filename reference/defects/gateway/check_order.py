"""Gateways that check other parameters of an authorization request before its client and redirect URI."""

from __future__ import annotations

from collections.abc import Callable
from urllib.parse import parse_qsl

from gateproof.reference.defects.gateway.row import defect
from gateproof.reference.deviations.altered_answers import Answered, Asked, altering_answers
from gateproof.reference.deviations.hidden_fields import (
    given_to_the_client,
    request_in_the_form,
    sent_to_the_uri,
)
from gateproof.reference.gateway.gateway import Gateway
from gateproof.reference.gateway.policy import authorization
from gateproof.reference.gateway.policy.authorization import (
    REDIRECT_CHECKS,
    AuthorizationCheck,
    AuthorizationFacts,
)
from gateproof.reference.outcomes import Refusal, first_refusal


def unless_there_is(
    another_fault: Callable[[AuthorizationFacts], object], honest: AuthorizationCheck
) -> AuthorizationCheck:
    """Skips the correct check if the request has another fault."""

    def late(facts: AuthorizationFacts) -> Refusal | None:
        return None if another_fault(facts) else honest(facts)

    return late


def registered_if_known(facts: AuthorizationFacts) -> Refusal | None:
    return None if facts.agent is None else authorization.redirect_uri_is_registered(facts)


def any_fault(facts: AuthorizationFacts) -> object:
    return first_refusal(REDIRECT_CHECKS, facts)


def has_prompt_none(facts: AuthorizationFacts) -> bool:
    return facts.value("prompt") == "none"


def login_is_required(facts: AuthorizationFacts) -> Refusal | None:
    if not has_prompt_none(facts):
        return None
    return Refusal(status=400, error="login_required", description="nobody is signed in")


def redirected_to_the_unregistered_one(asked: Asked, answered: Answered, gateway: Gateway) -> Answered:
    """Checks one of two redirect URIs and redirects to the other."""
    if not asked.path.endswith("/oauth2/auth"):
        return answered
    pairs = parse_qsl(asked.query)
    uris = [value for name, value in pairs if name == "redirect_uri"]
    agent = gateway.store.agents.get(dict(pairs).get("client_id", ""))
    foreign = [uri for uri in uris if agent is not None and uri not in agent.redirect_uris]
    if len(uris) != 2 or len(foreign) != 1:
        return answered
    location = f"{foreign[0]}?error=invalid_request&state={dict(pairs).get('state', '')}"
    return Answered(status=302, headers=(("location", location),), body=b"")


DEFECTS = (
    defect(
        "redirect-uri-of-the-form (AUTHZ-06): The gateway redirects to the redirect URI in a hidden field of "
        "the approve form.",
        **request_in_the_form(redirect_uri=sent_to_the_uri),
    ),
    defect(
        "client-of-the-form (AUTHZ-07): The gateway issues the code to the client ID in a hidden field of "
        "the approve form.",
        **request_in_the_form(client_id=given_to_the_client),
    ),
    defect(
        "faults-told-at-unregistered-addresses (AUTHZ-06): The gateway redirects with an error to an "
        "unregistered redirect URI if the request has any other fault.",
        page_checks=(
            authorization.client_is_known,
            unless_there_is(any_fault, authorization.redirect_uri_is_registered),
        ),
    ),
    defect(
        "response-type-told-at-unregistered-addresses (AUTHZ-06): The gateway redirects with an error to an "
        "unregistered redirect URI if response_type is wrong.",
        page_checks=(
            authorization.client_is_known,
            unless_there_is(authorization.response_type_is_code, authorization.redirect_uri_is_registered),
        ),
    ),
    defect(
        "login-required-told-at-unregistered-addresses (AUTHZ-06): The gateway redirects with an error to an "
        "unregistered redirect URI if the request has prompt=none.",
        page_checks=(
            authorization.client_is_known,
            unless_there_is(has_prompt_none, authorization.redirect_uri_is_registered),
        ),
        redirect_checks=(*REDIRECT_CHECKS, login_is_required),
    ),
    defect(
        "doubled-redirect-uri-told-at-the-foreign-one (AUTHZ-06): If a request has two redirect URIs, the "
        "gateway redirects with an error to the unregistered one.",
        around=altering_answers(redirected_to_the_unregistered_one),
    ),
    defect(
        "faults-of-unknown-clients-told (AUTHZ-11): The gateway redirects an unknown client with an error to "
        "its redirect URI if the request has any other fault.",
        page_checks=(unless_there_is(any_fault, authorization.client_is_known), registered_if_known),
    ),
    defect(
        "missing-challenge-of-unknown-clients-told (AUTHZ-11): The gateway redirects an unknown client with "
        "an error to its redirect URI if code_challenge is missing.",
        page_checks=(
            unless_there_is(authorization.challenge_is_given, authorization.client_is_known),
            registered_if_known,
        ),
    ),
)
