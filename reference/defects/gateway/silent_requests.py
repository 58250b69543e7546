"""Gateways that treat requests with prompt=none, a hint or a request object in a branch of their own."""

from __future__ import annotations

from contextvars import ContextVar
from dataclasses import replace
from urllib.parse import parse_qsl

from gateproof.doubles.compact_jws import parsed_jwt
from gateproof.reference.defects.gateway.check_order import has_prompt_none, unless_there_is
from gateproof.reference.defects.gateway.row import defect
from gateproof.reference.defects.gateway.wrong_user import approved_where_hinted
from gateproof.reference.deviations.altered_answers import Answered, Asked, altering_answers
from gateproof.reference.gateway.gateway import Gateway
from gateproof.reference.gateway.policy import authorization
from gateproof.reference.gateway.policy.authorization import (
    REDIRECT_CHECKS,
    AuthorizationCheck,
    AuthorizationFacts,
)
from gateproof.reference.gateway.policy.code_exchange import challenge_of
from gateproof.reference.gateway.records import AuthorizationRequest, Person, Project, Standing
from gateproof.reference.gateway.store import Store

Pairs = tuple[tuple[str, str], ...]
# Whether the authorization request that this task serves has prompt=none.
SILENT: ContextVar[bool] = ContextVar("silent", default=False)


def not_silently(*skipped: AuthorizationCheck) -> tuple[AuthorizationCheck, ...]:
    """The checks of a request; these are left out for prompt=none."""
    return tuple(
        unless_there_is(has_prompt_none, each) if each in skipped else each for each in REDIRECT_CHECKS
    )


def claims_of_the_object(facts: AuthorizationFacts) -> dict[str, str]:
    """The claims of the request object, whoever signed it."""
    parsed = parsed_jwt(facts.value("request"))
    return {} if parsed is None else {name: str(value) for name, value in parsed.claims.items()}


def uri_of_the_object(facts: AuthorizationFacts) -> AuthorizationRequest:
    honest = authorization.authorization_request(facts)
    return replace(honest, redirect_uri=claims_of_the_object(facts).get("redirect_uri", honest.redirect_uri))


def challenge_of_the_object(facts: AuthorizationFacts) -> AuthorizationRequest:
    """A plain challenge is stored as that of S256, as for a request without an object."""
    honest, claims = authorization.authorization_request(facts), claims_of_the_object(facts)
    if claims.get("code_challenge_method") != "plain":
        return honest
    return replace(honest, challenge=challenge_of(claims["code_challenge"]))


def client_of_the_object(pairs: Pairs) -> Pairs:
    given = dict(pairs)
    parsed = parsed_jwt(given.get("request", ""))
    if parsed is None:
        return pairs
    client_id = str(parsed.claims.get("client_id", given.get("client_id")))
    return tuple((name, client_id if name == "client_id" else value) for name, value in pairs)


def known_by_id_token(store: Store, facts: AuthorizationFacts, person: Person | None) -> Person | None:
    """The user of the ID token in id_token_hint, which any agent of the user has."""
    parsed = parsed_jwt(facts.value("id_token_hint"))
    sub = parsed.claims.get("sub") if parsed is not None else None
    return person or next((each.person for each in store.grants.values() if each.sub == sub), None)


def noting_silence(_store: Store, facts: AuthorizationFacts, person: Person | None) -> Person | None:
    SILENT.set(has_prompt_none(facts))
    return person


def let_in_silently(recorded: Standing | None, project: Project) -> Standing:
    """An agent that waits for its approval does not wait any longer."""
    silent = SILENT.get() and recorded == "pending"
    return "approved" if silent else authorization.agent_standing(recorded, project)


def filled_by_the_object(pairs: Pairs) -> Pairs:
    """Parameters that the query lacks come from the request object, whoever signed it."""
    given = dict(pairs)
    parsed = parsed_jwt(given.get("request", ""))
    if parsed is None:
        return pairs
    return (*pairs, *((name, str(value)) for name, value in parsed.claims.items() if name not in given))


def has_an_object(facts: AuthorizationFacts) -> bool:
    return bool(facts.value("request"))


def token_without_a_page(asked: Asked, answered: Answered, _gateway: Gateway) -> Answered:
    """Renews a token in a hidden frame, as clients without a back end wanted it."""
    query = dict(parse_qsl(asked.query))
    silent = query.get("prompt") == "none" and "token" in query.get("response_type", "").split()
    if not asked.path.endswith("/oauth2/auth") or not silent:
        return answered
    location = f"{query.get('redirect_uri', '')}#access_token=opaque-token-for-a-hidden-frame"
    return Answered(status=302, headers=(("location", location),), body=b"")


DEFECTS = (
    defect(
        "silent-tokens (AUTHZ-05): A request with prompt=none and response_type=token gets a token in the "
        "fragment.",
        around=altering_answers(token_without_a_page),
    ),
    defect(
        "challenge-of-an-unchecked-object (AUTHZ-04): Parameters may be in an unsigned request object, and "
        "its challenge is then not checked.",
        read_query=filled_by_the_object,
        redirect_checks=tuple(
            unless_there_is(has_an_object, each)
            if each in (authorization.challenge_is_given, authorization.challenge_method_is_s256)
            else each
            for each in REDIRECT_CHECKS
        ),
    ),
    defect(
        "redirect-uri-of-an-unchecked-object (AUTHZ-06): The redirect URI may be in an unsigned request "
        "object, and is then not checked.",
        read_query=filled_by_the_object,
        page_checks=(
            authorization.client_is_known,
            unless_there_is(has_an_object, authorization.redirect_uri_is_registered),
        ),
    ),
    defect(
        "silent-requests-without-pkce (AUTHZ-03 AUTHZ-04): A request with prompt=none needs no PKCE "
        "parameters, and takes any method.",
        redirect_checks=not_silently(
            authorization.challenge_is_given, authorization.challenge_method_is_s256
        ),
    ),
    defect(
        "silent-requests-of-any-type (AUTHZ-05): The response_type of a request with prompt=none is not "
        "checked, if there is one.",
        redirect_checks=not_silently(authorization.response_type_is_code),
    ),
    defect(
        "silent-requests-of-any-scope (AUTHZ-18): The scopes of a request with prompt=none are granted as "
        "requested.",
        redirect_checks=not_silently(authorization.scopes_are_known),
    ),
    defect(
        "silent-requests-of-pending-agents (AUTHZ-07): A Pending agent is approved by its request with "
        "prompt=none.",
        known_user=noting_silence,
        agent_standing=let_in_silently,
    ),
    defect(
        "signed-in-by-an-id-token (AUTHZ-20): An id_token_hint signs its user in, who has approved the agent "
        "before.",
        known_user=known_by_id_token,
        consent=approved_where_hinted,
    ),
    defect(
        "redirect-uri-of-a-request-object (AUTHZ-06): The redirect URI in a request object replaces the one "
        "that was checked.",
        authorization_request=uri_of_the_object,
    ),
    defect(
        "challenge-of-a-request-object (AUTHZ-04): A plain challenge in a request object replaces the one "
        "that was checked.",
        authorization_request=challenge_of_the_object,
    ),
    defect(
        "client-of-a-request-object (AUTHZ-11): The client_id in a request object replaces an unknown one.",
        read_query=client_of_the_object,
    ),
)
