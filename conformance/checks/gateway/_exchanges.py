"""Exchanges of a code, and what they have to end in."""

from __future__ import annotations

from dataclasses import replace

from gateproof.conformance.kit.gateway.gateway import Gateway
from gateproof.conformance.kit.gateway.reused_agent import regular
from gateproof.conformance.kit.gateway.world import World
from gateproof.conformance.suite.claims import expect, require
from gateproof.conformance.suite.parties import Agent, Authorization
from gateproof.conformance.wire.exchange import Exchange

TOKENS = ("access_token", "id_token", "refresh_token")

# What may stand behind a field's name, and a value: forms are read as nested by many a framework, and what is
# then no string may match anything that it is compared with.
NESTED = {
    "not-equal": ("[$ne]", "gateproof-wrong"),
    "greater": ("[$gt]", ""),
    "list": ("[]", "gateproof-wrong"),
}


def proven(world: World, *, verifier: str | None = None) -> tuple[World, Authorization]:
    """A code that waits, of an agent whose last code was exchanged with success in just the same way."""
    there, twin = regular(world, verifier=verifier)
    answer = there.gateway.exchange(twin)
    if answer.status != 200:
        # Too many wrong secrets may have locked the agent out that all checks share: another one begins anew.
        world.standing.regular = None
        there, twin = regular(world, verifier=verifier)
        answer = there.gateway.exchange(twin)
    require(answer).status(200)
    return there, there.code_for(there.attempt(twin.agent, verifier=verifier))


def works(world: World, agent: Agent) -> Exchange:
    """An exchange with everything right, as the twin of one that has a fault."""
    return require(world.gateway.exchange(world.code_for(world.attempt(agent)))).status(200)


def no_tokens(answer: Exchange, what: str) -> None:
    """The exchange is refused, and no token comes with the refusal."""
    expect(replace(answer, step=f"exchange with {what}")).not_granted("tokens", *TOKENS)


def invalid_grant(answer: Exchange, what: str) -> None:
    """The exchange is refused with the error `invalid_grant`, and no token comes with it."""
    no_tokens(answer, what)
    # Where in the body the code stands is open; that it is the member `error` is CODE-11's matter.
    expect.that(
        answer.says("invalid_grant"),
        f"error of the exchange with {what}",
        expected="invalid_grant",
        got=answer.member("error") or "a body without it",
    )


def refreshed(gateway: Gateway, agent: Agent, refresh_token: str, *further: tuple[str, str]) -> Exchange:
    """The refresh grant in the form that RFC 6749 gives it."""
    return gateway.token_request(
        [
            ("grant_type", "refresh_token"),
            ("refresh_token", refresh_token),
            ("client_id", agent.client_id),
            ("client_secret", agent.client_secret.reveal()),
            *further,
        ]
    )
