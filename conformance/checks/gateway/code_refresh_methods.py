"""A refresh requires the agent's secret, whatever method the agent registered."""

from __future__ import annotations

from dataclasses import replace

from gateproof.conformance.checks.gateway._exchanges import no_tokens, refresh
from gateproof.conformance.checks.gateway._refreshed_tokens import refreshable
from gateproof.conformance.checks.gateway.code_refresh import form_of
from gateproof.conformance.checks.gateway.reg_methods import METHODS, WITHOUT, Change, agent_of
from gateproof.conformance.kit.gateway.gateway import Gateway
from gateproof.conformance.kit.gateway.world import World
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import LeftOut, NotApplicable
from gateproof.conformance.suite.parties import Grant
from gateproof.conformance.wire.secret import Secret


@check("CODE-16", cases=METHODS)
def refresh_without_a_secret_gets_no_tokens(gateway: Gateway, world: World, case: Change) -> None:
    """Whatever method an agent registers, a refresh without its secret in the body gets no tokens.

    The gateway may refuse the registration or the exchange. With the secret, a refresh gave tokens.
    """
    usual = refreshable(world, NotApplicable)
    grant = _refreshed(gateway, world.in_one_browser(), case, usual)
    for name, instead in WITHOUT.items():
        secret = grant.agent.client_id if instead == "client_id" else instead
        sent = [] if secret is None else [("client_secret", secret)]
        answer = gateway.token_request([*form_of(grant), ("client_id", grant.agent.client_id), *sent])

        no_tokens(answer, f"a refresh token with {name}")


def _refreshed(gateway: Gateway, world: World, change: Change, usual: Grant) -> Grant:
    """The usual grant with an agent of this registration, and with the refresh token of its refresh."""
    registered = gateway.register(change(world.agents.metadata()))
    if registered.status in range(400, 500):
        raise LeftOut("the gateway refuses this registration")
    agent = agent_of(world, registered)
    attempt = world.attempt(agent)
    code = world.gateway.visit(attempt, wherever=True).parameter("code")
    if not code:
        raise LeftOut("an agent with this registration gets no code")
    answer = gateway.exchange(world.authorization_of(attempt, code))
    token, access = answer.member("refresh_token"), answer.member("access_token")
    if answer.status != 200 or not isinstance(token, str) or not isinstance(access, str):
        raise LeftOut("an agent with this registration gets no tokens with its secret")
    renewed = refresh(gateway, agent, token)
    if renewed.status != 200:
        raise LeftOut("an agent with this registration cannot refresh with its secret")
    newest = renewed.member("refresh_token")
    if not isinstance(newest, str) and refresh(gateway, agent, token).status != 200:
        raise LeftOut("an agent with this registration can refresh only once")
    return replace(
        usual,
        agent=agent,
        access_token=Secret("access_token", access),
        refresh_token=Secret("refresh_token", newest if isinstance(newest, str) and newest else token),
    )
