"""Consent: asks the user about the agent; an approval creates a grant, a merchant token and a code."""

from __future__ import annotations

from collections.abc import Mapping

from starlette.responses import Response

from gateproof.reference.gateway.events import Event, What
from gateproof.reference.gateway.gateway import Gateway
from gateproof.reference.gateway.handlers.browser import error, page, redirect
from gateproof.reference.gateway.pages import ApprovePageFacts
from gateproof.reference.gateway.policy.authorization import ConsentFacts
from gateproof.reference.gateway.policy.registration import domain_of
from gateproof.reference.gateway.records import Agent, Code, Grant, Person, Resource, SignIn, Standing
from gateproof.reference.ids import fingerprint
from gateproof.reference.outcomes import Refusal


async def ask(
    gateway: Gateway, resource: Resource, sign_in: SignIn, *, was_signed_in: bool, cookie: Mapping[str, str]
) -> Response:
    """The answer after a sign-in: the approve page, the Pending page, or a redirect to the agent."""
    person, agent = sign_in.person, gateway.store.agents.get(sign_in.request.client_id)
    if person is None or agent is None or resource.id not in gateway.store.resources:
        return error(gateway, "Start again from the agent.")
    standing = _standing(gateway, resource, agent)
    facts = ConsentFacts(
        agent_id=agent.id,
        standing=standing,
        was_signed_in=was_signed_in,
        login_id=person.login_id,
        answers=gateway.store.answers.get((resource.project_id, agent.id), {}),
    )
    decided = gateway.policies.consent(facts)
    if decided == "pending":
        return held(gateway, resource, sign_in, agent, cookie=cookie)
    if decided == "approved":
        return await approve(gateway, resource, sign_in, cookie=cookie)
    ticket = gateway.ids.secret()
    gateway.store.sign_ins.add(fingerprint(ticket), sign_in, gateway.clock.now())
    asked = ApprovePageFacts(
        agent=agent,
        domain=domain_of(agent.redirect_uris),
        person=person,
        resource=resource,
        scopes=sign_in.request.scopes,
        action=f"{gateway.base_path}/{resource.id}/sign-in/decision",
        ticket=ticket,
        may_switch=was_signed_in,
    )
    return page(gateway, gateway.policies.approve_page(asked), cookie=cookie)


async def approve(
    gateway: Gateway, resource: Resource, sign_in: SignIn, *, cookie: Mapping[str, str] | None = None
) -> Response:
    """After an approval. The merchant token is fetched before the code is issued, so that it is there."""
    request = sign_in.request
    person, agent = sign_in.person, gateway.store.agents.get(request.client_id)
    if person is None or agent is None or resource.id not in gateway.store.resources:
        return error(gateway, "Start again from the agent.")
    if _standing(gateway, resource, agent) == "pending":
        return held(gateway, resource, sign_in, agent, cookie=cookie)
    grant = _grant(gateway, resource, agent, sign_in, person)
    verdict = await gateway.vault.provision(grant, agent, resource)
    gateway.log.write(f"provisioning for {resource.id}: {verdict}")
    if not gateway.policies.continues_sign_in(verdict):
        return tell_agent(gateway, sign_in, "server_error", "the merchant gave no token")
    now = gateway.clock.now()
    gateway.store.grants.add(grant.id, grant, now)
    code = gateway.policies.new_code(gateway.ids)
    record = Code(
        grant_id=grant.id,
        agent_id=agent.id,
        redirect_uri=request.redirect_uri,
        challenge=request.challenge,
        expires_at=now + gateway.policies.code_lifetime_s,
    )
    gateway.store.codes.add(fingerprint(code), record, now)
    headers = {**(cookie or {}), **gateway.policies.code_headers(code)}
    return redirect(gateway, gateway.policies.code_redirect(request, code, gateway.issuer), headers)


def held(
    gateway: Gateway,
    resource: Resource,
    sign_in: SignIn,
    agent: Agent,
    *,
    cookie: Mapping[str, str] | None,
) -> Response:
    """The answer to a user who signed in for a Pending agent."""
    note(gateway, "agent is Pending", resource, sign_in)
    if gateway.policies.pending_redirects_error:
        return tell_agent(gateway, sign_in, "access_denied", "the operator has yet to approve the agent")
    return page(gateway, gateway.policies.pending_page(agent), cookie=cookie)


def note(gateway: Gateway, what: What, resource: Resource, sign_in: SignIn) -> None:
    """Records an event for the operator."""
    event = Event(
        at=gateway.clock.now(),
        what=what,
        project_id=resource.project_id,
        resource_id=resource.id,
        login_id=sign_in.person.login_id if sign_in.person is not None else "",
        agent_id=sign_in.request.client_id,
    )
    gateway.store.events.note(event)


def tell_agent(gateway: Gateway, sign_in: SignIn, code: str, description: str) -> Response:
    """An error without a code: as a redirect to the agent, or as a page."""
    request = sign_in.request
    if not gateway.policies.redirects_error(Refusal(status=400, error=code, description=description)):
        return error(gateway, description)
    location = gateway.policies.error_redirect(
        request.redirect_uri, code, description, request.state, gateway.issuer
    )
    return redirect(gateway, location)


def _standing(gateway: Gateway, resource: Resource, agent: Agent) -> Standing:
    """The agent's standing in the Project, which is recorded at the first sign-in."""
    place = gateway.policies.standing_key(resource.project_id, agent.id)
    project = gateway.store.projects[resource.project_id]
    standing = gateway.policies.agent_standing(gateway.store.standings.get(place), project)
    gateway.store.standings[place] = standing
    return gateway.policies.standing_at(gateway.store, resource, agent, standing)


def _grant(gateway: Gateway, resource: Resource, agent: Agent, sign_in: SignIn, person: Person) -> Grant:
    store = gateway.store
    sub = gateway.policies.subject(store.subjects, resource.project_id, person.login_id, gateway.ids)
    store.subjects[resource.project_id, person.login_id] = sub
    return Grant(
        id=gateway.ids.identifier("grant_"),
        agent_id=agent.id,
        project_id=resource.project_id,
        resource_id=resource.id,
        sub=sub,
        person=person,
        scopes=sign_in.request.scopes,
        nonce=sign_in.request.nonce,
    )
