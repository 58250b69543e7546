"""Gateways that accept authorization requests which they should refuse, or refuse valid ones."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from gateproof.reference.defects.defect import instead, without
from gateproof.reference.defects.gateway.row import defect
from gateproof.reference.gateway.policy import authorization as honest
from gateproof.reference.gateway.policy.authorization import REDIRECT_CHECKS, AuthorizationFacts
from gateproof.reference.gateway.policy.code_exchange import challenge_of
from gateproof.reference.gateway.policy.token_claims import TokenFacts, Tokens, token_answer
from gateproof.reference.gateway.records import Agent, AuthorizationRequest
from gateproof.reference.outcomes import JsonObject, Refusal

Pairs = tuple[tuple[str, str], ...]
Check = honest.AuthorizationCheck
SCOPE_CHECKS = (
    honest.scope_is_given,
    honest.scopes_include_openid,
    honest.scopes_include_one_of_the_resource,
)


def only_if(good: Callable[[AuthorizationFacts], bool]) -> Check:
    """A check that only tests whether `good` is true."""
    refusal = Refusal(status=400, error="invalid_request", description="the request is not good enough")
    return lambda facts: None if good(facts) else refusal


def instead_of(check: Check, good: Callable[[AuthorizationFacts], bool]) -> dict[str, tuple[Check, ...]]:
    return {"redirect_checks": instead(REDIRECT_CHECKS, check, only_if(good))}


def where(applies: Callable[[AuthorizationFacts], bool], *some: Check) -> tuple[Check, ...]:
    """The correct checks, some of which run only if `applies` is true."""

    def conditional(check: Check) -> Check:
        return lambda facts: check(facts) if applies(facts) else None

    return tuple(conditional(check) if check in some else check for check in REDIRECT_CHECKS)


def asks_for_pkce(facts: AuthorizationFacts) -> bool:
    return bool(facts.values("code_challenge") or facts.values("code_challenge_method"))


def method_is(good: Callable[[str], bool]) -> dict[str, tuple[Check, ...]]:
    return instead_of(
        honest.challenge_method_is_s256, lambda facts: good(facts.value("code_challenge_method"))
    )


def response_type_is(good: Callable[[str], bool]) -> dict[str, tuple[Check, ...]]:
    return instead_of(honest.response_type_is_code, lambda facts: good(facts.value("response_type")))


def scopes_matching(good: Callable[[str, str], bool]) -> dict[str, tuple[Check, ...]]:
    """A scope passes if `good` is true for it and any known scope."""

    def all_known(facts: AuthorizationFacts) -> bool:
        known = {"openid", "ext_token:read", *facts.resource.scopes}
        return all(any(good(scope, each) for each in known) for scope in facts.scopes)

    return instead_of(honest.scopes_are_known, all_known)


def plain_where_not_s256(facts: AuthorizationFacts) -> AuthorizationRequest:
    """With the method plain the challenge is the verifier; stores its S256 challenge."""
    request = honest.authorization_request(facts)
    if facts.value("code_challenge_method") == "S256":
        return request
    return replace(request, challenge=challenge_of(request.challenge))


def with_default_redirect_uri(facts: AuthorizationFacts) -> AuthorizationRequest:
    uri = facts.value("redirect_uri") or (facts.agent.redirect_uris[0] if facts.agent else "")
    return replace(honest.authorization_request(facts), redirect_uri=uri)


def with_default_scopes(facts: AuthorizationFacts) -> AuthorizationRequest:
    scopes = facts.scopes or ("openid", *facts.resource.scopes)
    return replace(honest.authorization_request(facts), scopes=scopes)


def of_the_agent_found(facts: AuthorizationFacts) -> AuthorizationRequest:
    client_id = facts.agent.id if facts.agent else ""
    return replace(honest.authorization_request(facts), client_id=client_id)


def agent_with_an_id_prefix(agents: Mapping[str, Agent], client_id: str) -> Agent | None:
    near = (agent for name, agent in agents.items() if client_id and client_id.startswith(name))
    return agents.get(client_id) or next(near, None)


def newest_agent_otherwise(agents: Mapping[str, Agent], client_id: str) -> Agent | None:
    return agents.get(client_id) or next(reversed(list(agents.values())), None)


def token_in_the_fragment(uri: str, error: str, description: str, state: str, issuer: str) -> str:
    if error == "unsupported_response_type":
        return f"{uri}#access_token=f2c4e8d0a1b34c5d&token_type=bearer&state={state}"
    return honest.error_redirect(uri, error, description, state, issuer)


def nothing_is_unknown(facts: AuthorizationFacts) -> Refusal | None:
    known = {*honest.PARAMETERS, "nonce"}
    return only_if(lambda _: all(name in known for name, _ in facts.pairs))(facts)


def names_are_in_order(facts: AuthorizationFacts) -> bool:
    places = [honest.PARAMETERS.index(name) for name, _ in facts.pairs if name in honest.PARAMETERS]
    return places == sorted(places)


def state_once(pairs: Pairs) -> Pairs:
    state = dict(pairs).get("state")
    kept = tuple((name, value) for name, value in pairs if name != "state")
    return kept if state is None else (*kept, ("state", state))


def known_scopes_in_the_answer(facts: TokenFacts, tokens: Tokens) -> JsonObject:
    shown = [scope for scope in facts.scopes if scope in {"openid", *facts.resource.scopes}]
    return token_answer(facts, tokens) | {"scope": " ".join(shown)}


MISSING = (
    defect(
        "response-type-optional (AUTHZ-03): A request without response_type is treated as one with "
        "response_type=code.",
        redirect_checks=instead(
            without(REDIRECT_CHECKS, honest.response_type_is_given),
            honest.response_type_is_code,
            only_if(lambda facts: facts.value("response_type") in {"", "code"}),
        ),
    ),
    defect(
        "redirect-uri-optional (AUTHZ-03): A request without redirect_uri uses the first registered redirect "
        "URI.",
        page_checks=(
            honest.client_is_known,
            lambda facts: honest.redirect_uri_is_registered(facts) if facts.values("redirect_uri") else None,
        ),
        authorization_request=with_default_redirect_uri,
    ),
    defect(
        "scope-optional (AUTHZ-03): A request without scope gets openid and every scope of the Resource.",
        redirect_checks=where(lambda facts: bool(facts.scopes), *SCOPE_CHECKS),
        authorization_request=with_default_scopes,
    ),
    defect(
        "state-optional (AUTHZ-03): The gateway accepts a request without state.",
        redirect_checks=without(REDIRECT_CHECKS, honest.state_is_given),
    ),
    defect(
        "challenge-optional (AUTHZ-03): The gateway accepts a request with code_challenge_method but without "
        "code_challenge.",
        redirect_checks=without(REDIRECT_CHECKS, honest.challenge_is_given),
    ),
    defect(
        "pkce-optional (AUTHZ-03): The gateway accepts a request without any PKCE parameter.",
        redirect_checks=where(asks_for_pkce, honest.challenge_is_given, honest.challenge_method_is_s256),
    ),
    defect(
        "challenge-method-optional (AUTHZ-04 AUTHZ-03): A challenge without a method is treated as S256.",
        **method_is(lambda method: method in {"", "S256"}),
    ),
)

WRONG_VALUES = (
    defect(
        "plain-taken-as-s256 (AUTHZ-04): The gateway accepts the challenge method plain and treats it as "
        "S256.",
        **method_is(lambda method: method in {"plain", "S256"}),
    ),
    defect(
        "any-challenge-method (AUTHZ-04): The gateway accepts any challenge method and treats it as S256.",
        **method_is(bool),
    ),
    defect(
        "challenge-method-by-its-beginning (AUTHZ-04): A challenge method that begins with S256 is treated "
        "as S256.",
        **method_is(lambda method: method.startswith("S256")),
    ),
    defect(
        "challenge-method-anywhere (AUTHZ-04): The gateway accepts a challenge method that contains S256, "
        "such as a list.",
        **method_is(lambda method: "S256" in method),
    ),
    defect(
        "plain-honoured (AUTHZ-04): Every challenge method other than S256 is treated as plain.",
        **method_is(bool),
        authorization_request=plain_where_not_s256,
    ),
    defect(
        "any-response-type (AUTHZ-05): The gateway issues a code for any response_type.",
        **response_type_is(bool),
    ),
    defect(
        "hybrid-response-types (AUTHZ-05): The gateway issues a code for a response_type that lists code "
        "among others.",
        **response_type_is(lambda value: "code" in value.split()),
    ),
    defect(
        "response-type-by-its-beginning (AUTHZ-05): The gateway issues a code for a response_type that "
        "begins with code.",
        **response_type_is(lambda value: value.startswith("code")),
    ),
    defect(
        "implicit-flow-left-in (AUTHZ-05): An unsupported response_type gets a redirect with an access token "
        "in the fragment.",
        error_redirect=token_in_the_fragment,
    ),
    defect(
        "unknown-client-is-told-by-redirect (AUTHZ-11 ROBUST-01): The gateway redirects to the redirect URI "
        "of an unknown client to report the error.",
        page_checks=(
            lambda facts: honest.redirect_uri_is_registered(facts) if facts.agent is not None else None,
        ),
        redirect_checks=(honest.client_is_known, *REDIRECT_CHECKS),
    ),
    defect(
        "client-by-the-beginning-of-its-id (AUTHZ-11 CODE-07): The gateway takes a client ID that begins "
        "with a registered client ID as that client ID.",
        agent_named=agent_with_an_id_prefix,
        authorization_request=of_the_agent_found,
    ),
    defect(
        "unknown-client-is-the-newest (AUTHZ-11 AUTHZ-03 CODE-07): The gateway takes an unknown client ID as "
        "that of the agent that registered last.",
        agent_named=newest_agent_otherwise,
        authorization_request=of_the_agent_found,
    ),
    defect(
        "last-of-doubled-parameters (AUTHZ-14): If a parameter occurs twice, the gateway uses the last "
        "value.",
        read_query=lambda pairs: tuple(dict(pairs).items()),
    ),
    defect(
        "first-of-doubled-parameters (AUTHZ-14): If a parameter occurs twice, the gateway uses the first "
        "value.",
        read_query=lambda pairs: tuple(dict(reversed(pairs)).items()),
    ),
    defect(
        "doubled-state-tolerated (AUTHZ-14): The gateway accepts a request in which state occurs twice.",
        read_query=state_once,
    ),
    defect(
        "unknown-parameters-refused (AUTHZ-14): The gateway refuses a request with an unknown parameter.",
        redirect_checks=(nothing_is_unknown, *REDIRECT_CHECKS),
    ),
    defect(
        "parameters-in-one-order-only (AUTHZ-14): The gateway refuses parameters in another order than that "
        "of the specification.",
        redirect_checks=(only_if(names_are_in_order), *REDIRECT_CHECKS),
    ),
    defect(
        "openid-first (AUTHZ-14): The gateway refuses a request in which openid is not the first scope.",
        **instead_of(honest.scopes_include_openid, lambda facts: facts.scopes[:1] == ("openid",)),
    ),
)

SCOPES = (
    defect(
        "any-scope-granted (AUTHZ-18): The gateway grants every scope that an agent requests.",
        redirect_checks=without(REDIRECT_CHECKS, honest.scopes_are_known),
    ),
    defect(
        "scopes-by-their-beginning (AUTHZ-18): The gateway grants a scope that begins with the name of a "
        "known scope.",
        **scopes_matching(lambda scope, known: scope.startswith(known)),
    ),
    defect(
        "scopes-in-any-case (AUTHZ-18): The gateway compares scopes case-insensitively.",
        **scopes_matching(lambda scope, known: scope.casefold() == known.casefold()),
    ),
    defect(
        "wildcard-scopes (AUTHZ-18): The gateway grants a scope that ends in * if a known scope begins with "
        "the text before the star.",
        **scopes_matching(
            lambda scope, known: scope == known or ("*" in scope and known.startswith(scope[:-1]))
        ),
    ),
    defect(
        "scopes-hidden-in-the-token (AUTHZ-18): The gateway grants an unknown scope in the access token, but "
        "omits it from the token response.",
        redirect_checks=without(REDIRECT_CHECKS, honest.scopes_are_known),
        token_answer=known_scopes_in_the_answer,
    ),
)

DEFECTS = (*MISSING, *WRONG_VALUES, *SCOPES)
