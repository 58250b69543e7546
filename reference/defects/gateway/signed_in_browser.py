"""Gateways that are wrong only for a signed-in browser, a known Project, a second redirect URI, or later."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from secrets import token_urlsafe
from typing import Any

from gateproof.reference.defects.defect import instead
from gateproof.reference.defects.gateway.cached_claims import sub_per
from gateproof.reference.defects.gateway.claims import with_ext
from gateproof.reference.defects.gateway.row import defect
from gateproof.reference.deviations.altered_answers import Answered, Asked, altering_answers
from gateproof.reference.gateway.gateway import Gateway
from gateproof.reference.gateway.policy import authorization as honest
from gateproof.reference.gateway.policy.authorization import PAGE_CHECKS, AuthorizationFacts
from gateproof.reference.gateway.policy.registration import NewAgent, RegistrationFacts, new_agent
from gateproof.reference.gateway.policy.token_claims import ACR, TokenFacts
from gateproof.reference.gateway.records import Agent, AgentPolicy, AuthorizationRequest, Project, Standing
from gateproof.reference.ids import Ids
from gateproof.reference.outcomes import JsonObject, Refusal

DAY_S = 86_400
FRAMING = ("content-security-policy", "x-frame-options")


def to_the_first_uri() -> dict[str, Any]:
    """Reads the redirect URI from the agent instead of the request."""
    first: dict[str, str] = {}

    def kept(facts: AuthorizationFacts) -> AuthorizationRequest:
        request = honest.authorization_request(facts)
        if facts.agent is not None:
            first[request.client_id] = facts.agent.redirect_uris[0]
        return request

    def sent(request: AuthorizationRequest, code: str, issuer: str) -> str:
        return honest.code_redirect(replace(request, redirect_uri=first[request.client_id]), code, issuer)

    return {"authorization_request": kept, "code_redirect": sent}


def others_by_prefix(facts: AuthorizationFacts) -> Refusal | None:
    given = facts.value("redirect_uri")
    others = facts.agent.redirect_uris[1:] if facts.agent is not None else ()
    return None if given.startswith(others) else honest.redirect_uri_is_registered(facts)


def state_trimmed(facts: AuthorizationFacts) -> AuthorizationRequest:
    request = honest.authorization_request(facts)
    return replace(request, state=request.state.strip())


def policy_read_once() -> Callable[[Standing | None, Project], Standing]:
    """Reads the agent policy of a Project only when its first agent appears."""
    first: dict[str, AgentPolicy] = {}

    def standing(recorded: Standing | None, project: Project) -> Standing:
        policy = first.setdefault(project.id, project.agent_policy)
        return honest.agent_standing(recorded, replace(project, agent_policy=policy))

    return standing


def opened_by_an_approval() -> Callable[[Standing | None, Project], Standing]:
    """After a request of an approved agent, its Project approves new agents; Pending ones stay Pending."""
    opened: set[str] = set()

    def standing(recorded: Standing | None, project: Project) -> Standing:
        if recorded == "approved":
            opened.add(project.id)
        return (
            "approved"
            if recorded is None and project.id in opened
            else honest.agent_standing(recorded, project)
        )

    return standing


def named_in_any_case(agents: Mapping[str, Agent], client_id: str) -> Agent | None:
    alike = (agent for known, agent in agents.items() if known.lower() == client_id.lower())
    return agents.get(client_id) or next(alike, None)


def with_the_registered_client_id(facts: AuthorizationFacts) -> AuthorizationRequest:
    request = honest.authorization_request(facts)
    return request if facts.agent is None else replace(request, client_id=facts.agent.id)


def with_a_mixed_case_id(facts: RegistrationFacts, ids: Ids, now: float) -> NewAgent:
    new = new_agent(facts, ids, now)
    return replace(new, agent=replace(new.agent, id=f"agent_Z{token_urlsafe(16)}"))


def when_signed_in(**wrong: Any) -> Callable[[TokenFacts], JsonObject]:
    """Replaces members of `ext` in all tokens except those of the first grant after a sign-in."""
    first: dict[tuple[str, float], str] = {}

    def changed(facts: TokenFacts) -> JsonObject:
        person, grant_id = facts.grant.person, facts.grant.id
        is_first = first.setdefault((person.login_id, person.signed_in_at), grant_id) == grant_id
        return {} if is_first else wrong

    return with_ext(changed)


def framed_when_signed_in(asked: Asked, answered: Answered, _gateway: Gateway) -> Answered:
    """Removes the framing headers; the authorization endpoint returns a page only to a signed-in browser."""
    if not asked.path.endswith("/oauth2/auth") or answered.status != 200:
        return answered
    return replace(answered, headers=tuple(pair for pair in answered.headers if pair[0] not in FRAMING))


AUTHORIZATIONS = (
    defect(
        "code-at-the-first-redirect-uri (AUTHZ-01): The gateway sends the code to the agent's first redirect "
        "URI instead of the requested one.",
        **to_the_first_uri(),
    ),
    defect(
        "redirect-by-prefix-behind-the-first (AUTHZ-06): The gateway compares redirect URIs after an agent's "
        "first one only by prefix.",
        page_checks=instead(PAGE_CHECKS, honest.redirect_uri_is_registered, others_by_prefix),
    ),
    defect(
        "state-trimmed (AUTHZ-02): The gateway removes whitespace around `state`.",
        authorization_request=state_trimmed,
    ),
    defect(
        "policy-as-it-was-at-first (AUTHZ-07 ROBUST-04): The gateway ignores a change of the agent policy "
        "after the first agent of the Project appeared.",
        agent_standing=policy_read_once(),
    ),
    defect(
        "approval-of-one-agent-ends-the-hold (AUTHZ-07 ROBUST-04): After a request of an approved agent, the "
        "gateway approves every new agent of its Project.",
        agent_standing=opened_by_an_approval(),
    ),
    defect(
        "client-ids-in-any-case (AUTHZ-11): The authorization endpoint compares client IDs "
        "case-insensitively.",
        agent_named=named_in_any_case,
        authorization_request=with_the_registered_client_id,
        new_agent=with_a_mixed_case_id,
    ),
    defect(
        "forms-work-with-any-cookie (AUTHZ-19): The gateway accepts a form from a browser with any session "
        "cookie, not only the right one.",
        same_browser=lambda _found, browser: browser is not None,
    ),
    defect(
        "pages-framed-when-signed-in (AUTHZ-15): The page for a user who is already signed in has no headers "
        "against framing.",
        around=altering_answers(framed_when_signed_in),
    ),
)

TOKENS = (
    defect(
        "acr-lower-when-signed-in (CLAIM-05): `ext.acr` has level 1 if the user was already signed in.",
        access_token_claims=when_signed_in(acr=ACR.replace("al2", "al1")),
    ),
    defect(
        "amr-a-string-when-signed-in (CLAIM-06): `ext.amr` is a string if the user was already signed in.",
        access_token_claims=when_signed_in(amr="pwd"),
    ),
    defect(
        "sub-of-the-day (CLAIM-03): `sub` changes every day.",
        **sub_per(lambda facts: str(int(facts.now // DAY_S))),
    ),
)

DEFECTS = (*AUTHORIZATIONS, *TOKENS)
