"""Code exchanges with `Accept: */*`, without Accept, and with a chunked body."""

from __future__ import annotations

from gateproof.conformance.checks.gateway._exchanges import (
    TOKENS,
    code_after_working_exchange,
    invalid_grant,
    no_tokens,
)
from gateproof.conformance.checks.gateway._request_forms import (
    ACCEPTS,
    Form,
    chunked,
    unless_chunks_refused,
    with_request_form,
)
from gateproof.conformance.kit.gateway.world import World
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import expect, require


@check("CODE-01", cases=ACCEPTS)
def agent_that_asks_for_no_media_type_gets_every_token(world: World, case: Form) -> None:
    """A code exchange with `Accept: */*`, or without Accept, returns every token."""
    world, authorization = code_after_working_exchange(world)

    answer = with_request_form(world, case).gateway.exchange(authorization)

    expect(answer).status(200)
    for name in (*TOKENS, "scope"):
        expect.text(answer.member(name), name)


@check("CODE-02", cases=ACCEPTS)
def used_code_is_refused_whatever_media_type_is_asked_for(world: World, case: Form) -> None:
    """A used code gets invalid_grant also with `Accept: */*`, or without Accept."""
    world, authorization = code_after_working_exchange(world)
    require(world.gateway.exchange(authorization)).status(200)

    invalid_grant(
        with_request_form(world, case).gateway.exchange(authorization), "a used code, in another form"
    )


@check("CODE-07", cases=ACCEPTS)
def wrong_secret_is_refused_whatever_media_type_is_asked_for(world: World, case: Form) -> None:
    """A wrong secret is refused also with `Accept: */*`, or without Accept."""
    world, authorization = code_after_working_exchange(world)

    answer = with_request_form(world, case).gateway.exchange(authorization, client_secret="gateproof-wrong")  # noqa: S106
    no_tokens(answer, "a wrong client_secret, in another form")


@check("CODE-11", cases=ACCEPTS)
def refusal_is_json_whatever_media_type_is_asked_for(world: World, case: Form) -> None:
    """A refusal is JSON also with `Accept: */*`, or without Accept."""
    world, authorization = code_after_working_exchange(world)

    answer = require(
        with_request_form(world, case).gateway.exchange(authorization, grant_type="gateproof")
    ).refused()

    expect.text(expect(answer).json_object().get("error"), "error in the refusal")


@check("CODE-01")
def chunked_exchange_is_answered_like_others(world: World) -> None:
    """A code exchange with a chunked body, without Content-Length, returns every token."""
    world, authorization = code_after_working_exchange(world)

    answer = unless_chunks_refused(with_request_form(world, chunked).gateway.exchange(authorization))

    expect(answer).status(200)
    for name in (*TOKENS, "scope"):
        expect.text(answer.member(name), name)
