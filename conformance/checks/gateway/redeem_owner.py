"""The owner of a redeemed merchant token."""

from __future__ import annotations

from gateproof.conformance.checks.gateway._second_project import grant_at
from gateproof.conformance.checks.gateway._token_owner import expect_own_tokens, expect_owner
from gateproof.conformance.kit.gateway import console
from gateproof.conformance.kit.gateway.codes import require_code
from gateproof.conformance.kit.gateway.gateway import Gateway
from gateproof.conformance.kit.gateway.isolated_user import isolated_user, let_expire, redeem_past
from gateproof.conformance.kit.gateway.world import World
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import LeftOut, expect, require
from gateproof.conformance.wire.route import origin


@check("REDEEM-12", cases=("one-agent", "two-agents"))
def each_user_gets_their_own(world: World, case: str) -> None:
    """Two users who signed in one after the other each redeem their own merchant token, in any order."""
    proxy_token, agent = world.backend.proxy_token(), world.agents.new()
    other = agent if case == "one-agent" else world.agents.new()
    alice = world.grant(agent=agent, user=world.users[0])
    bob = world.grant(agent=other, user=world.users[1])
    for grant in (alice, bob):
        world.backend.require_redeemed(grant, proxy_token)

    expect_own_tokens(world, [(grant, proxy_token) for grant in (alice, bob, bob, alice)])


@check("REDEEM-12", needs=["merchant", "users:2", "sign-in:browser"])
def second_user_of_a_browser_gets_their_own(world: World) -> None:
    """A user who signs in with a browser that another user has used redeems their own merchant token.

    If the gateway reuses the first user's session without a new sign-in, the result proves nothing.
    """
    first, second = world.users[:2]
    proxy_token, browser = world.backend.proxy_token(), world.gateway.browser()
    for user in (first, second):
        agent = world.agents.new()
        attempt = world.attempt(agent, user=user)
        url = world.gateway.authorization_url(attempt)
        visit = world.gateway.record_secrets(browser.visit(url, agent.redirect_uri, user, approve=True))
        if not any(origin(page) == origin(world.merchant_api or "") for page in visit.acted_on):
            raise LeftOut("the gateway did not have this user sign in with the merchant")
        if user is second and not visit.codes():
            raise LeftOut("the gateway offers no sign-in in a browser in which another user has signed in")
        code = require_code(world.gateway, visit)
        grant = world.grant_of(world.authorization_of(attempt, code), attempt)
        answer = world.backend.require_redeemed(grant, proxy_token)

        expect_owner(world, answer, user, grant.resource)


@check("REDEEM-12", needs=["resources:2"])
def each_resource_gives_its_own(world: World) -> None:
    """One user's tokens for two Resources redeem two merchant tokens, each issued for its Resource."""
    proxy_token, agent = world.backend.proxy_token(), world.agents.new()
    grants = [world.grant(agent=agent, resource=resource) for resource in console.siblings(world)]
    for grant in grants:
        world.backend.require_redeemed(grant, proxy_token)

    expect_own_tokens(world, [(grant, proxy_token) for grant in (*grants, grants[0])])


@check("REDEEM-12", needs=["two-projects"])
def each_project_gives_its_own(world: World) -> None:
    """One user's tokens in two Projects redeem two merchant tokens, each issued for its Project."""
    projects, agent = (world.projects.home(), world.projects.another()), world.agents.new()
    tokens = [world.backend.proxy_token(project) for project in projects]
    grants = [grant_at(world, agent, project.resource) for project in projects]
    for grant, token in zip(grants, tokens, strict=True):
        world.backend.require_redeemed(grant, token)

    expect_own_tokens(world, [*zip(grants, tokens, strict=True), (grants[0], tokens[0])])


@check("REDEEM-12", needs=["control:create_resource", "control:create_project"])
def same_indicator_in_two_projects_is_two_resources(world: World) -> None:
    """Two Projects with the same Resource indicator give one user two different merchant tokens."""
    projects = console.two_with_same_indicator(world)
    tokens = [world.backend.proxy_token(project) for project in projects]
    grants = [world.grant(resource=project.resource) for project in projects]
    for grant, token in zip(grants, tokens, strict=True):
        world.backend.require_redeemed(grant, token)

    expect_own_tokens(world, [*zip(grants, tokens, strict=True), (grants[0], tokens[0])])


@check("REDEEM-12", needs=["resources:2"])
def sibling_resource_gives_its_own_or_nothing(gateway: Gateway, world: World) -> None:
    """A token for one Resource, used at another of its Project, gets the other Resource's token or none.

    Whether it redeems there at all is the gateway's choice.
    """
    resource, sibling = console.siblings(world)
    proxy_token, agent = world.backend.proxy_token(), world.agents.new()
    grants = [world.grant(agent=agent, resource=each) for each in (resource, sibling)]
    for grant in grants:
        world.backend.require_redeemed(grant, proxy_token)

    answer = gateway.redeem(grants[0].access_token, proxy_token, sibling.indicator)

    if answer.status == 200:
        expect_owner(world, answer, grants[0].user, sibling)
        own = gateway.redeem(grants[1].access_token, proxy_token, sibling.indicator)
        first = gateway.redeem(grants[0].access_token, proxy_token, resource.indicator)
        expect.that(
            answer.member("access_token") != first.member("access_token") or own.status != 200,
            "merchant token of the sibling Resource",
            expected="another than that of the Resource that the token was issued for",
            got="the same",
        )
    else:
        expect(answer).not_granted("the merchant token", "access_token")


@check("REDEEM-12", needs=["merchant"], alone=True)
def each_user_keeps_their_own_past_a_refresh(world: World) -> None:
    """After the merchant tokens of two users were refreshed, each user still redeems their own."""
    alice = isolated_user(world)
    bob = alice.beside()
    for one in (alice, bob):
        one.short_lived()
    agent, proxy_token = world.agents.new(), alice.proxy_token()
    grants = [one.grant(agent) for one in (alice, bob)]
    before = [world.backend.require_redeemed(grant, proxy_token) for grant in grants]
    let_expire(world)
    for grant, answer in zip(grants, before, strict=True):
        past = redeem_past(world, grant, proxy_token, answer.member("access_token"))
        require.step_of("redemption after a refresh")(past).status(200)

    expect_own_tokens(world, [(grant, proxy_token) for grant in (*grants, grants[0])])
