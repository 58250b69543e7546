"""Redemption: access token, Proxy token and Resource indicator give the user's merchant token."""

from __future__ import annotations

from dataclasses import replace

from gateproof.conformance.checks.gateway._refreshed_tokens import refreshed_grant, reused_refreshed_grant
from gateproof.conformance.checks.gateway._timestamps import is_timestamp_or_absent
from gateproof.conformance.kit.gateway import console
from gateproof.conformance.kit.gateway.end_to_end import operator_service, run_flow
from gateproof.conformance.kit.gateway.gateway import Gateway
from gateproof.conformance.kit.gateway.isolated_user import isolated_user
from gateproof.conformance.kit.gateway.project_pool import SCOPES
from gateproof.conformance.kit.gateway.valid_tokens import valid_tokens
from gateproof.conformance.kit.gateway.world import World
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import LeftOut, Unmet, expect, require
from gateproof.conformance.suite.parties import Resource, User
from gateproof.conformance.wire.exchange import Exchange
from gateproof.fakes.service import STEP_HEADER

LIKE_THE_REDEMPTION_SCOPE = "ext_token:read_all"


@check("REDEEM-01")
def answers_200_with_a_merchant_token(world: World) -> None:
    """A correct redemption is answered with 200 and a merchant token."""
    answer = world.backend.redeem_after_backoff(world.grant(), world.backend.proxy_token())

    expect(answer).status(200)
    expect.text(answer.member("access_token"), "access_token")


@check("REDEEM-01", needs=["merchant"])
def merchant_accepts_the_token_for_the_user(world: World) -> None:
    """The merchant accepts the redeemed token and returns this user's orders."""
    grant = world.grant()
    token = world.backend.merchant_token(grant, world.backend.proxy_token())

    answer = world.backend.orders(token)

    expect(answer).status(200)
    _holds_orders_of(world, grant.user, answer)


@check("REDEEM-01", needs=["merchant"])
def nine_steps_from_401_to_the_merchants_data(gateway: Gateway, world: World) -> None:
    """An agent that knows only the service's address gets the user's orders.

    The harness runs an operator's service that is protected by the gateway under test, and an agent that
    reads every address from the documents.
    """
    with operator_service(gateway, world) as service:
        answer = run_flow(gateway, world, service)
    stopped_at = answer.header(STEP_HEADER)
    require.that(
        stopped_at in {None, "redemption", "merchant API"},
        "operator's service",
        expected="a token that it can validate, and a Proxy token",
        got=f"an end at the step {stopped_at}",
    )

    expect(answer).status(200)
    _holds_orders_of(world, world.users[0], answer)


@check("REDEEM-01", needs=["control:create_resource", "control:create_project"])
def redeems_by_an_indicator_of_two_projects(world: World) -> None:
    """Redemption works although another Project, older or newer, has a Resource of the same indicator."""
    for project in console.two_with_same_indicator(world):
        answer = world.backend.redeem_after_backoff(
            world.grant(resource=project.resource), world.backend.proxy_token(project)
        )

        expect(answer).status(200)
        expect.text(answer.member("access_token"), "access_token")


@check("REDEEM-02")
def expires_at_is_a_timestamp(world: World) -> None:
    """`expires_at` is an RFC 3339 timestamp or absent; `scopes` may be absent, too."""
    is_timestamp_or_absent(world.backend.require_redeemed(world.grant(), world.backend.proxy_token()))


@check("REDEEM-03")
def missing_authorization_answers_400(gateway: Gateway, world: World) -> None:
    """A redemption without the user's access token is answered with 400."""
    grant, proxy_token = world.grant(), world.backend.proxy_token()
    world.backend.require_redeemed(grant, proxy_token)

    answer = gateway.redeem(None, proxy_token, grant.resource.indicator)

    expect(answer).status(400)


@check("REDEEM-04")
def missing_proxy_token_answers_400(gateway: Gateway, world: World) -> None:
    """A redemption without the Proxy token is answered with 400."""
    grant, proxy_token = world.grant(), world.backend.proxy_token()
    world.backend.require_redeemed(grant, proxy_token)

    answer = gateway.redeem(grant.access_token, None, grant.resource.indicator)

    expect(answer).status(400)


@check("REDEEM-04")
def missing_both_answers_400(gateway: Gateway, world: World) -> None:
    """A redemption without either credential is answered with 400."""
    grant, proxy_token = world.grant(), world.backend.proxy_token()
    world.backend.require_redeemed(grant, proxy_token)

    answer = gateway.redeem(None, None, grant.resource.indicator)

    expect(answer).status(400)


@check("REDEEM-05", cases=("home", "abroad"))
def proxy_token_of_another_project_gets_401(gateway: Gateway, world: World, case: str) -> None:
    """A redemption with a Proxy token of another Project gets 401.

    Both tokens are first shown to work in their own Project, so only the Project is wrong.
    """
    one, other = (
        (world.projects.home(), world.projects.another())
        if case == "home"
        else (world.projects.another(), world.projects.home())
    )
    grant, proxy_token = world.grant(resource=one.resource), world.backend.proxy_token(one)
    world.backend.require_redeemed(grant, proxy_token)
    elsewhere, foreign = world.grant(resource=other.resource), world.backend.proxy_token(other)
    world.backend.require_redeemed(elsewhere, foreign)

    answer = gateway.redeem(grant.access_token, foreign, one.resource.indicator)

    expect(answer).status(401)


@check("REDEEM-05")
def proxy_token_in_the_name_of_another_projects_client_gets_401(gateway: Gateway, world: World) -> None:
    """A Proxy token requested with one client's credentials and another's client_id gets 401 there.

    The other client belongs to another Project. The gateway may refuse the token request instead. Both
    clients get tokens that redeem in their own Projects.
    """
    home, another = world.projects.home(), world.projects.another()
    for project in (home, another):
        grant = world.grant(resource=project.resource)
        world.backend.require_redeemed(grant, world.backend.proxy_token(project))
    form = (("grant_type", "client_credentials"), ("client_id", another.proxy_client.id))
    asked = gateway.token_request(form, gateway.basic(home.proxy_client))
    if asked.status != 200:
        require(asked).refused()
        expect(asked).not_granted("a Proxy token", "access_token")
        return

    token = require.text(asked.member("access_token"), "access_token of the Proxy token request")
    proxy_token = gateway.keyring.secret("proxy_token", token)
    answer = gateway.redeem(grant.access_token, proxy_token, another.resource.indicator)

    expect(answer).status(401)
    expect(answer).not_granted("the merchant token", "access_token")


@check("REDEEM-05", needs=["control:create_resource", "control:create_project"])
def same_indicator_in_another_project_gets_401(gateway: Gateway, world: World) -> None:
    """A Proxy token of another Project gets 401, although that Project has a Resource of the same indicator.

    The token's audience and the Proxy client's Resource both match; only the Projects differ.
    """
    projects = console.two_with_same_indicator(world)
    tokens = [world.backend.proxy_token(project) for project in projects]
    grants = [world.grant(resource=project.resource) for project in projects]
    for grant, proxy_token in zip(grants, tokens, strict=True):
        world.backend.require_redeemed(grant, proxy_token)

    answer = gateway.redeem(grants[0].access_token, tokens[1], projects[0].resource.indicator)

    expect(answer).status(401)
    expect(answer).not_granted("the merchant token", "access_token")


@check("REDEEM-06", needs=["control:create_proxy_client"])
def revocation_reaches_tokens_already_issued(gateway: Gateway, world: World) -> None:
    """After a Proxy client is revoked, all its Proxy tokens get 401; the Project's other client works.

    The oldest and the newest token have redeemed before, the one between them has not.
    """
    project, leaving = world.projects.with_new_client()
    grant = world.grant(resource=project.resource)
    oldest, unused, newest = (
        world.backend.proxy_token(replace(project, proxy_client=leaving)) for _ in range(3)
    )
    for proxy_token in (oldest, newest):
        world.backend.require_redeemed(grant, proxy_token)
    console.revoke(world, leaving)

    answers = [
        gateway.redeem(grant.access_token, proxy_token, grant.resource.indicator)
        for proxy_token in (oldest, unused, newest)
    ]

    other = world.backend.proxy_token(project)
    require(gateway.redeem(grant.access_token, other, grant.resource.indicator)).status(200)
    for answer in answers:
        expect(answer).status(401)
        expect(answer).not_granted("the merchant token", "access_token")


@check("REDEEM-07")
def id_token_gets_401(gateway: Gateway, world: World) -> None:
    """The ID token in place of the access token gets 401, although the same core signed it."""
    good = valid_tokens(world)

    answer = gateway.redeem(good.grant.id_token, good.proxy_token, good.indicator)

    expect(answer).status(401)
    expect(answer).not_granted("the merchant token", "access_token")


@check("REDEEM-07")
def id_token_of_a_refresh_gets_401(gateway: Gateway, world: World) -> None:
    """The ID token that a refresh returns gets 401; the access token beside it is accepted."""
    fresh, proxy_token = reused_refreshed_grant(world), world.backend.proxy_token()
    id_token = fresh.answer.member("id_token")
    if not isinstance(id_token, str) or not id_token:
        raise LeftOut("a refresh brings no ID token")
    world.backend.require_redeemed(fresh, proxy_token)

    hidden = gateway.keyring.secret("id_token", id_token)
    answer = gateway.redeem(hidden, proxy_token, fresh.resource.indicator)

    expect(answer).status(401)
    expect(answer).not_granted("the merchant token", "access_token")


@check("REDEEM-08")
def refresh_does_not_bring_the_redemption_scope(gateway: Gateway, world: World) -> None:
    """A refresh does not add ext_token:read to a grant that lacks it; redemption gets 401."""
    agent, proxy_token = world.agents.new(), world.backend.proxy_token()
    world.backend.require_redeemed(world.grant(agent=agent), proxy_token)
    console.withhold_redemption_scope(world, agent)
    fresh = refreshed_grant(world, world.grant(agent=agent))

    answer = gateway.redeem(fresh.access_token, proxy_token, fresh.resource.indicator)

    expect(answer).status(401)
    expect(answer).not_granted("the merchant token", "access_token")


@check("REDEEM-08")
def token_without_the_redemption_scope_gets_401(gateway: Gateway, world: World) -> None:
    """A valid access token without the scope ext_token:read gets 401."""
    _refused_without_the_scope(gateway, world, world.projects.home().resource)


@check("REDEEM-08", needs=["control:create_resource"])
def scope_that_begins_alike_is_not_the_redemption_scope(gateway: Gateway, world: World) -> None:
    """A token with the scope ext_token:read_all, but without ext_token:read, gets 401."""
    scopes = (*SCOPES, LIKE_THE_REDEMPTION_SCOPE)
    resource = world.projects.resource(
        indicator=f"https://api.merchant.example/{world.unique()}", scopes=scopes
    )
    try:
        _refused_without_the_scope(gateway, world, resource)
    except Unmet as unmet:
        raise LeftOut(f"the scope {LIKE_THE_REDEMPTION_SCOPE} leads to no redemption here") from unmet


@check("REDEEM-10")
def without_a_merchant_token_the_answer_is_404(gateway: Gateway, world: World) -> None:
    """A redemption for a user whom the merchant rejected is answered with 404.

    The user can still sign in. As the positive twin, the merchant then accepts the user, and redemption works
    after the next sign-in.
    """
    world.backend.require_redeemed(world.grant(), world.backend.proxy_token())
    alone = isolated_user(world, own=True)
    alone.script(provisioning="reject")
    agent, proxy_token = world.agents.new(), alone.proxy_token()
    grant = alone.grant(agent)
    alone.require_outcome("reject")

    answer = gateway.redeem(grant.access_token, proxy_token, grant.resource.indicator)
    alone.script(provisioning="accept")

    expect(answer).status(404)
    world.backend.require_redeemed(alone.grant(agent), proxy_token)


def _refused_without_the_scope(gateway: Gateway, world: World, resource: Resource) -> None:
    """The same agent has redeemed for the same user before, so the merchant token exists."""
    agent, proxy_token = world.agents.new(), world.backend.proxy_token()
    before = world.grant(agent=agent, resource=resource)
    world.backend.require_redeemed(before, proxy_token)
    console.withhold_redemption_scope(world, agent)
    grant = world.grant(agent=agent, resource=resource)

    answer = gateway.redeem(grant.access_token, proxy_token, resource.indicator)

    expect(answer).status(401)
    expect(answer).not_granted("the merchant token", "access_token")


def _holds_orders_of(world: World, user: User, answer: Exchange) -> None:
    text = answer.answer.text() if answer.answer is not None else ""
    orders = world.order_ids(user)
    require.that(bool(orders), "fake merchant", expected=f"orders of {user.name}", got="none")
    expect.that(
        all(order in text for order in orders),
        answer.step,
        expected=f"the orders of {user.name}",
        got="others",
    )
