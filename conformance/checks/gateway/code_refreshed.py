"""The tokens of a refresh are bound like those of the code exchange."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from gateproof.conformance.checks.gateway._exchanges import is_bearer, is_not_to_be_stored, no_tokens, refresh
from gateproof.conformance.checks.gateway._refreshed_tokens import (
    refresh_or_leave_out,
    refreshable,
    reused_refreshed_grant,
)
from gateproof.conformance.checks.gateway.code_refresh import form_of, is_its_own
from gateproof.conformance.kit.gateway.world import World
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import LeftOut, NotApplicable
from gateproof.conformance.suite.parties import Grant
from gateproof.conformance.wire.exchange import Exchange


def _without_the_secret(world: World, grant: Grant) -> Exchange:
    return world.gateway.token_request([*form_of(grant), ("client_id", grant.agent.client_id)])


def _with_a_wrong_secret(world: World, grant: Grant) -> Exchange:
    wrong = world.gateway.keyring.secret("wrong_secret", "gateproof-wrong")
    fields = [("client_id", grant.agent.client_id), ("client_secret", wrong.reveal())]
    return world.gateway.token_request([*form_of(grant), *fields])


def _by_another_agent(world: World, grant: Grant) -> Exchange:
    return refresh(world.gateway, world.agents.new(), grant.refresh_token.reveal())


def _by_a_proxy_client(world: World, grant: Grant) -> Exchange:
    client = world.projects.home().proxy_client
    return world.gateway.token_request(form_of(grant), world.gateway.basic(client))


# Why a check is left out.
_AT_ONCE = "tokens are not refreshed at once"
_ONCE = "the refresh token that a refresh returned is refused"
MISUSES: Mapping[str, Callable[[World, Grant], Exchange]] = {
    "without-the-secret": _without_the_secret,
    "with-a-wrong-secret": _with_a_wrong_secret,
    "by-another-agent": _by_another_agent,
    "by-a-proxy-client": _by_a_proxy_client,
}


@check("CODE-11")
def refresh_answer_is_not_to_be_stored(world: World) -> None:
    """The answer to a refresh has Cache-Control: no-store (RFC 6749 sections 5.1 and 6)."""
    is_not_to_be_stored(reused_refreshed_grant(world).answer, "refresh")


@check("CODE-11")
def token_type_of_a_refresh_is_bearer(world: World) -> None:
    """The answer to a refresh has the token_type Bearer, in any case."""
    is_bearer(reused_refreshed_grant(world).answer)


@check("CODE-16", cases=MISUSES)
def refreshed_refresh_token_is_for_its_agent_alone(
    world: World, case: Callable[[World, Grant], Exchange]
) -> None:
    """A refresh token that a refresh returned gets no tokens without its agent's secret."""
    world = world.in_one_browser()
    twin = _refreshed_and_working(world)
    newest = refresh_or_leave_out(world, world.grant(agent=twin.agent), _AT_ONCE)

    no_tokens(case(world, newest), "the refresh token of a refresh")


@check("CODE-16")
def second_refresh_is_for_its_grant(world: World) -> None:
    """The access token of a second refresh has the user, the Project and the audience of the first token."""
    grant = refreshable(world, NotApplicable)
    newest = refresh_or_leave_out(world, grant, _AT_ONCE)
    answer = refresh(world.gateway, newest.agent, newest.refresh_token.reveal())
    if answer.status in range(400, 500):
        raise LeftOut(_ONCE)

    is_its_own(world, grant, answer)


def _refreshed_and_working(world: World) -> Grant:
    """Tokens of two refreshes, of which the second one used the refresh token of the first."""
    once = refresh_or_leave_out(world, refreshable(world, NotApplicable), _AT_ONCE)
    return refresh_or_leave_out(world, once, _ONCE)
