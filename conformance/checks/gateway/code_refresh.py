"""A refresh token works only for its agent, and gives no more than its grant."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from gateproof.conformance.checks.gateway._exchanges import no_tokens, refresh
from gateproof.conformance.checks.gateway._refreshed_tokens import refresh_or_leave_out, refreshable
from gateproof.conformance.checks.gateway._scopes import scopes_in
from gateproof.conformance.checks.gateway._second_project import agents_for, grant_at_for_same_agent
from gateproof.conformance.checks.gateway._second_resource import of_one_merchant
from gateproof.conformance.checks.gateway._tokens import claims_of
from gateproof.conformance.kit.gateway.world import World
from gateproof.conformance.kit.inputs.near_tokens import changed, cut_short
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import LeftOut, NotApplicable, Unavailable, expect, require
from gateproof.conformance.suite.parties import Grant, Resource
from gateproof.conformance.wire.documents import strings_in
from gateproof.conformance.wire.exchange import Exchange

# Makes the secret that is sent from the right one; None leaves it out.
WRONG: Mapping[str, Callable[[str], str | None]] = {
    "missing": lambda _: None,
    "invented": lambda _: "gateproof-wrong",
    "empty": lambda _: "",
    "first-character-changed": lambda secret: changed(secret, 0),
    "all-but-the-last-character": cut_short,
}
# Whether a Proxy client's credentials are in a header, and whether the agent's client ID is in the form.
PROXY_CLIENTS = {
    "basic": (True, False),
    "basic-and-the-agents-client-id": (True, True),
    "in-the-form": (False, False),
}
SCOPES = ("orders:read", "orders:write")


@check("CODE-16", cases=WRONG)
def refresh_with_a_wrong_secret_gets_no_tokens(world: World, case: Callable[[str], str | None]) -> None:
    """A refresh with a wrong client secret, or with none, gets no tokens."""
    grant = refreshable(world, NotApplicable)
    wrong = case(grant.agent.client_secret.reveal())
    if wrong:
        world.gateway.keyring.secret("wrong_secret", wrong)
    secret = [] if wrong is None else [("client_secret", wrong)]

    answer = world.gateway.token_request([*form_of(grant), ("client_id", grant.agent.client_id), *secret])

    no_tokens(answer, "a refresh token without the agent's secret")


@check("CODE-16")
def refresh_token_alone_gets_no_tokens(world: World) -> None:
    """A refresh without any client identity gets no tokens."""
    no_tokens(
        world.gateway.token_request(form_of(refreshable(world, NotApplicable))), "a refresh token alone"
    )


@check("CODE-16", cases=("its-own-client-id", "the-other-client-id"))
def refresh_token_of_one_agent_gets_another_no_tokens(world: World, case: str) -> None:
    """A refresh token gets no tokens for an agent other than its own, with either agent's client ID."""
    grant, other = refreshable(world, NotApplicable), world.agents.new()
    client_id = other.client_id if case == "its-own-client-id" else grant.agent.client_id

    answer = world.gateway.token_request(
        [*form_of(grant), ("client_id", client_id), ("client_secret", other.client_secret.reveal())]
    )

    no_tokens(answer, "another agent's refresh token")


@check("CODE-16", cases=PROXY_CLIENTS)
def refresh_token_gets_a_proxy_client_no_tokens(world: World, case: tuple[bool, bool]) -> None:
    """A refresh token gets no tokens for a Proxy client of the Project."""
    in_a_header, names_the_agent = case
    grant, client = refreshable(world, NotApplicable), world.projects.home().proxy_client
    world.backend.proxy_token()
    fields = [*form_of(grant)]
    if names_the_agent:
        fields.append(("client_id", grant.agent.client_id))
    if not in_a_header:
        fields += [("client_id", client.id), ("client_secret", client.secret.reveal())]

    answer = world.gateway.token_request(fields, *([world.gateway.basic(client)] if in_a_header else []))

    no_tokens(answer, "a refresh token and the credentials of a Proxy client")


@check("CODE-16", cases=("names-the-other-scope", "names-no-scope"))
def second_refresh_brings_no_scope_that_was_not_granted(world: World, case: str) -> None:
    """A refresh by the refresh token of a refresh grants no scope that was not granted before."""
    _brings_no_further_scope(world, case, first_refreshed=True)


@check("CODE-16", cases=("names-the-other-scope", "names-no-scope"))
def refresh_brings_no_scope_that_was_not_granted(world: World, case: str) -> None:
    """A refresh grants no scope of the Resource that was not granted before."""
    _brings_no_further_scope(world, case, first_refreshed=False)


def _brings_no_further_scope(world: World, case: str, *, first_refreshed: bool) -> None:
    world, resource = world.in_one_browser(), two_scopes(world)
    asked, other = resource.scopes[:2]
    grant = with_one_scope(world, resource, asked)
    granted = scopes_in(grant.answer)
    if other in granted:
        raise LeftOut("a request for one scope of the Resource is granted all of them")
    if first_refreshed:
        grant = refresh_or_leave_out(world, grant, "tokens for one scope are not refreshed")
    further = [("scope", f"openid {asked} {other}")] if case == "names-the-other-scope" else []

    answer = refresh(world.gateway, grant.agent, grant.refresh_token.reveal(), *further)

    if further and answer.status in range(400, 500):
        no_tokens(answer, "a scope that was not granted")
        return
    wider = scopes_in(require(answer).status(200)) - granted
    expect.that(
        not wider,
        "scopes after a refresh",
        expected=f"no more than {' '.join(sorted(granted))}",
        got=" ".join(sorted(wider)),
    )


@check("CODE-16")
def refresh_is_for_the_user_of_its_grant(world: World) -> None:
    """After two users have authorized one agent, each refresh returns a token of its own user."""
    refreshable(world, NotApplicable)
    if len(world.users) < 2:
        raise Unavailable("users:2", "needs two users: name a second one under [[users]]")
    agent = world.agents.new()
    _each_is_its_own(world, [world.grant(agent=agent, user=user) for user in world.users[:2]])


@check("CODE-16")
def refresh_is_for_the_resource_of_its_grant(world: World) -> None:
    """After authorizations at two Resources, each refresh returns a token for its own Resource."""
    refreshable(world, NotApplicable)
    _at_both(world, world.projects.two_resources())


@check("CODE-16")
def refresh_is_for_the_project_of_its_grant(world: World) -> None:
    """After an agent was authorized in two Projects, each refresh returns a token of its own Project."""
    refreshable(world, NotApplicable)
    here, agent = world.in_one_browser(), world.agents.new()
    both = world.projects.home().resource, world.projects.another().resource
    one, other = of_one_merchant(world, both)
    grants = [here.grant(agent=agent, resource=one), grant_at_for_same_agent(here, agent, other)]
    _each_is_its_own(world, grants)


@check("CODE-16", cases=("resource", "audience"))
def refresh_is_for_no_audience_that_it_names(world: World, case: str) -> None:
    """A refresh that names another Resource returns no token for it; a refusal is allowed."""
    grant = refreshable(world, NotApplicable)
    one, other = world.projects.two_resources()
    if one.indicator == other.indicator:
        raise LeftOut("the two Resources of the target file stand for one merchant API")

    answer = refresh(world.gateway, grant.agent, grant.refresh_token.reveal(), (case, other.indicator))
    if answer.status in range(400, 500):
        no_tokens(answer, f"the {case} {other.indicator}")
        return
    is_its_own(world, grant, answer)


def _at_both(world: World, resources: Sequence[Resource]) -> None:
    world = world.in_one_browser()
    both = of_one_merchant(world, resources)
    agents = agents_for(world, both)
    grants = [
        world.grant(agent=agent, resource=resource) for agent, resource in zip(agents, both, strict=True)
    ]
    _each_is_its_own(world, grants)


def _each_is_its_own(world: World, grants: Sequence[Grant]) -> None:
    """Refreshes the newest grant first: it may have ended the refresh token of the other."""
    for number, grant in enumerate(reversed(grants)):
        answer = refresh(world.gateway, grant.agent, grant.refresh_token.reveal())
        if answer.status in range(400, 500):
            why = (
                "ends the refresh token of an earlier one" if number else "gave one that is not accepted yet"
            )
            raise LeftOut(f"a later authorization of the agent {why}")
        is_its_own(world, grant, require(answer).status(200))


def is_its_own(world: World, grant: Grant, answer: Exchange) -> None:
    """The refreshed token has the user, the Project and no other audience than the token of the grant."""
    text = require.text(require(answer).status(200).member("access_token"), "access_token of the refresh")
    token = world.gateway.keyring.secret("access_token", text)
    before = claims_of(world, grant)
    after = world.jwt(token, "refreshed access token").claims

    expect.equal(after.get("sub"), before.get("sub"), "sub after a refresh")
    foreign = set(strings_in({"aud": after.get("aud")})) - set(strings_in({"aud": before.get("aud")}))
    expect.that(
        not foreign, "aud after a refresh", expected="no other audience", got=" ".join(sorted(foreign))
    )
    expect.equal(_project_in(after), _project_in(before), "ext.project_id after a refresh")


def _project_in(claims: Mapping[str, Any]) -> object:
    ext = claims.get("ext")
    return ext.get("project_id") if isinstance(ext, dict) else None


def form_of(grant: Grant) -> list[tuple[str, str]]:
    return [("grant_type", "refresh_token"), ("refresh_token", grant.refresh_token.reveal())]


def two_scopes(world: World) -> Resource:
    """A Resource with two scopes, at a gateway that supports the refresh grant."""
    resource = refreshable(world, NotApplicable).resource
    if len(resource.scopes) >= 2:
        return resource
    indicator = f"https://api.merchant.example/v4/{world.unique()}"
    return world.projects.resource(indicator=indicator, scopes=SCOPES)


def with_one_scope(world: World, resource: Resource, scope: str) -> Grant:
    """The tokens of an authorization that requested only this scope of the Resource."""
    attempt = world.attempt(resource=resource)
    scopes = " ".join(("openid", scope, *world.extra_scopes))
    parameters = {**attempt.parameters, "scope": scopes}
    narrow = replace(attempt, parameters=parameters)
    return world.grant_of(world.code_for(narrow), narrow)
