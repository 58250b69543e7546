"""Code exchanges, and the results that checks expect of them."""

from __future__ import annotations

from dataclasses import replace

from gateproof.conformance.kit.gateway.gateway import Gateway
from gateproof.conformance.kit.gateway.reused_agent import reused_authorization
from gateproof.conformance.kit.gateway.world import World
from gateproof.conformance.suite.claims import expect, require
from gateproof.conformance.suite.parties import Agent, Authorization
from gateproof.conformance.wire.exchange import Exchange

TOKENS = ("access_token", "id_token", "refresh_token")

# Suffixes of a field's name, and a value. Many frameworks parse such a field as nested data; the value is
# then an operator or a list, and a comparison with it may always succeed.
NESTED = {
    "not-equal": ("[$ne]", "gateproof-wrong"),
    "greater": ("[$gt]", ""),
    "list": ("[]", "gateproof-wrong"),
}


def code_after_working_exchange(world: World, *, verifier: str | None = None) -> tuple[World, Authorization]:
    """An unused code of an agent whose previous code was exchanged successfully in the same way."""
    there, twin = reused_authorization(world, verifier=verifier)
    answer = there.gateway.exchange(twin)
    if answer.status != 200:
        # Too many wrong secrets may have locked the shared agent, so a new one is used.
        world.worker_state.reused_agent = None
        there, twin = reused_authorization(world, verifier=verifier)
        answer = there.gateway.exchange(twin)
    require(answer).status(200)
    return there, there.code_for(there.attempt(twin.agent, verifier=verifier))


def require_exchange(world: World, agent: Agent) -> Exchange:
    """A correct exchange: the positive twin of one with a fault."""
    return require(world.gateway.exchange(world.code_for(world.attempt(agent)))).status(200)


def used_code(world: World) -> Authorization:
    """A code that has been exchanged; it is exchanged at once, because codes may live for seconds only."""
    authorization = world.new_code()
    require(world.gateway.exchange(authorization)).status(200)
    return authorization


def no_tokens(answer: Exchange, what: str) -> None:
    """The exchange is refused, and the refusal contains no token."""
    expect(replace(answer, step=f"exchange with {what}")).not_granted("tokens", *TOKENS)


def invalid_grant(answer: Exchange, what: str) -> None:
    """The exchange is refused with the error `invalid_grant`, and the refusal contains no token."""
    no_tokens(answer, what)
    # The error code may be anywhere in the body; CODE-11 tests that it is the member `error`.
    expect.that(
        answer.says("invalid_grant"),
        f"error of the exchange with {what}",
        expected="invalid_grant",
        got=answer.member("error") or "a body without it",
    )


def is_not_to_be_stored(answer: Exchange, what: str) -> None:
    """The answer has Cache-Control: no-store."""
    said = answer.answer.headers_named("Cache-Control") if answer.answer is not None else ()
    directives = {part.strip().lower() for value in said for part in value.split(",")}

    expect.that(
        "no-store" in directives,
        f"Cache-Control of the {what}",
        expected="no-store",
        got=", ".join(said) or "no Cache-Control",
    )


def is_bearer(answer: Exchange) -> None:
    """The answer has the token_type Bearer, in any case."""
    token_type = answer.member("token_type")

    bearer = isinstance(token_type, str) and token_type.lower() == "bearer"
    expect.that(bearer, "token_type", expected="Bearer", got=token_type)


def refresh(gateway: Gateway, agent: Agent, refresh_token: str, *further: tuple[str, str]) -> Exchange:
    """A refresh grant as in RFC 6749. The specification does not define it, so no rule owns this step."""
    answer = gateway.token_request(
        [
            ("grant_type", "refresh_token"),
            ("refresh_token", refresh_token),
            ("client_id", agent.client_id),
            ("client_secret", agent.client_secret.reveal()),
            *further,
        ]
    )
    return replace(answer, step="refresh")
