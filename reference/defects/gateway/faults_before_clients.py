"""Gateways that look at the other parameters of a request before its client and redirect URI."""

from __future__ import annotations

from collections.abc import Callable
from urllib.parse import parse_qsl

from gateproof.reference.defects.gateway.row import defect
from gateproof.reference.deviations.altered_answers import Answered, Asked, meddling
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
    """A check that is skipped where there is another fault."""

    def late(facts: AuthorizationFacts) -> Refusal | None:
        return None if another_fault(facts) else honest(facts)

    return late


def registered_if_known(facts: AuthorizationFacts) -> Refusal | None:
    return None if facts.agent is None else authorization.redirect_uri_is_registered(facts)


def any_fault(facts: AuthorizationFacts) -> object:
    return first_refusal(REDIRECT_CHECKS, facts)


def asks_for_silence(facts: AuthorizationFacts) -> bool:
    return facts.value("prompt") == "none"


def login_is_required(facts: AuthorizationFacts) -> Refusal | None:
    if not asks_for_silence(facts):
        return None
    return Refusal(status=400, error="login_required", description="nobody is signed in")


def told_at_the_other_address(asked: Asked, answered: Answered, gateway: Gateway) -> Answered:
    """Of two redirect URIs, one is looked up and the other is answered."""
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
        "faults-told-at-unregistered-addresses (AUTHZ-06): Whatever else is wrong with a request is told at "
        "its redirect URI, registered or not.",
        page_checks=(
            authorization.client_is_known,
            unless_there_is(any_fault, authorization.redirect_uri_is_registered),
        ),
    ),
    defect(
        "response-type-told-at-unregistered-addresses (AUTHZ-06): A wrong response_type is told at the "
        "redirect URI, registered or not.",
        page_checks=(
            authorization.client_is_known,
            unless_there_is(authorization.response_type_is_code, authorization.redirect_uri_is_registered),
        ),
    ),
    defect(
        "login-required-told-at-unregistered-addresses (AUTHZ-06): prompt=none is answered at the redirect "
        "URI, registered or not.",
        page_checks=(
            authorization.client_is_known,
            unless_there_is(asks_for_silence, authorization.redirect_uri_is_registered),
        ),
        redirect_checks=(*REDIRECT_CHECKS, login_is_required),
    ),
    defect(
        "doubled-redirect-uri-told-at-the-foreign-one (AUTHZ-06): Of two redirect URIs the unregistered one "
        "is told that there are two.",
        around=meddling(told_at_the_other_address),
    ),
    defect(
        "faults-of-unknown-clients-told (AUTHZ-11): Whatever else is wrong with the request of an unknown "
        "client is told at its redirect URI.",
        page_checks=(unless_there_is(any_fault, authorization.client_is_known), registered_if_known),
    ),
    defect(
        "missing-challenge-of-unknown-clients-told (AUTHZ-11): An unknown client that sends no challenge "
        "hears so at its redirect URI.",
        page_checks=(
            unless_there_is(authorization.challenge_is_given, authorization.client_is_known),
            registered_if_known,
        ),
    ),
)
