"""Gateways that are wrong only in a browser or a Project that they know, with a second address, or later."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from secrets import token_urlsafe
from typing import Any

from gateproof.reference.defects.defect import instead
from gateproof.reference.defects.gateway.cached_claims import pairwise
from gateproof.reference.defects.gateway.claims import extended
from gateproof.reference.defects.gateway.row import defect
from gateproof.reference.deviations.altered_answers import Answered, Asked, meddling
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
    """Where the code is sent is read from the agent, and not from the request."""
    first: dict[str, str] = {}

    def kept(facts: AuthorizationFacts) -> AuthorizationRequest:
        request = honest.authorization_request(facts)
        if facts.agent is not None:
            first[request.client_id] = facts.agent.redirect_uris[0]
        return request

    def sent(request: AuthorizationRequest, code: str, issuer: str) -> str:
        return honest.code_redirect(replace(request, redirect_uri=first[request.client_id]), code, issuer)

    return {"authorization_request": kept, "code_redirect": sent}


def exactly_only_the_first(facts: AuthorizationFacts) -> Refusal | None:
    given = facts.value("redirect_uri")
    others = facts.agent.redirect_uris[1:] if facts.agent is not None else ()
    return None if given.startswith(others) else honest.redirect_uri_is_registered(facts)


def state_trimmed(facts: AuthorizationFacts) -> AuthorizationRequest:
    request = honest.authorization_request(facts)
    return replace(request, state=request.state.strip())


def policy_read_once() -> Callable[[Standing | None, Project], Standing]:
    """A Project's policy is looked up when its first agent comes, and never again."""
    first: dict[str, AgentPolicy] = {}

    def standing(recorded: Standing | None, project: Project) -> Standing:
        policy = first.setdefault(project.id, project.agent_policy)
        return honest.agent_standing(recorded, replace(project, agent_policy=policy))

    return standing


def opened_by_an_approval() -> Callable[[Standing | None, Project], Standing]:
    """Once an approved agent has come, its Project holds no new ones; those that wait go on waiting."""
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


def as_the_agent_is_called(facts: AuthorizationFacts) -> AuthorizationRequest:
    request = honest.authorization_request(facts)
    return request if facts.agent is None else replace(request, client_id=facts.agent.id)


def with_an_id_of_both_cases(facts: RegistrationFacts, ids: Ids, now: float) -> NewAgent:
    new = new_agent(facts, ids, now)
    return replace(new, agent=replace(new.agent, id=f"agent_Z{token_urlsafe(16)}"))


def when_signed_in(**wrong: Any) -> Callable[[TokenFacts], JsonObject]:
    """What stands in `ext` of every token but those of the first approval after a sign-in."""
    first: dict[tuple[str, float], str] = {}

    def changed(facts: TokenFacts) -> JsonObject:
        person, grant_id = facts.grant.person, facts.grant.id
        is_first = first.setdefault((person.login_id, person.signed_in_at), grant_id) == grant_id
        return {} if is_first else wrong

    return extended(changed)


def framed_when_signed_in(asked: Asked, answered: Answered, _gateway: Gateway) -> Answered:
    """Only to a browser that is signed in, the authorization endpoint answers with a page of its own."""
    if not asked.path.endswith("/oauth2/auth") or answered.status != 200:
        return answered
    return replace(answered, headers=tuple(pair for pair in answered.headers if pair[0] not in FRAMING))


AUTHORIZATIONS = (
    defect(
        "code-at-the-first-redirect-uri (AUTHZ-01): The code goes to the first redirect URI of the agent, "
        "whichever it asked for.",
        **to_the_first_uri(),
    ),
    defect(
        "redirect-by-prefix-behind-the-first (AUTHZ-06): Of several redirect URIs only the first is "
        "compared to its end.",
        page_checks=instead(PAGE_CHECKS, honest.redirect_uri_is_registered, exactly_only_the_first),
    ),
    defect(
        "state-trimmed (AUTHZ-02): `state` comes back without the spaces around it.",
        authorization_request=state_trimmed,
    ),
    defect(
        "policy-as-it-was-at-first (AUTHZ-07 ROBUST-04): A Project that begins to hold agents after the "
        "first one came holds none.",
        agent_standing=policy_read_once(),
    ),
    defect(
        "approval-of-one-agent-ends-the-hold (AUTHZ-07 ROBUST-04): The approval of one agent lets in every "
        "agent that comes after it.",
        agent_standing=opened_by_an_approval(),
    ),
    defect(
        "client-ids-in-any-case (AUTHZ-11): The authorization endpoint takes a client_id in which small "
        "letters are capitals.",
        agent_named=named_in_any_case,
        authorization_request=as_the_agent_is_called,
        new_agent=with_an_id_of_both_cases,
    ),
    defect(
        "forms-work-with-any-cookie (AUTHZ-19): A form asks that the browser that sends it has a cookie, "
        "and not which one.",
        same_browser=lambda _found, browser: browser is not None,
    ),
    defect(
        "pages-framed-when-signed-in (AUTHZ-15): The page for a user who is signed in already says nothing "
        "about framing.",
        around=meddling(framed_when_signed_in),
    ),
)

TOKENS = (
    defect(
        "acr-lower-when-signed-in (CLAIM-05): `ext.acr` is of level 1 for a user who was signed in already.",
        access_token_claims=when_signed_in(acr=ACR.replace("al2", "al1")),
    ),
    defect(
        "amr-a-string-when-signed-in (CLAIM-06): `ext.amr` is a string for a user who was signed in already.",
        access_token_claims=when_signed_in(amr="pwd"),
    ),
    defect(
        "sub-of-the-day (CLAIM-03): `sub` is another one every day.",
        **pairwise(lambda facts: str(int(facts.now // DAY_S))),
    ),
)

DEFECTS = (*AUTHORIZATIONS, *TOKENS)
