"""Registrations with other Accept headers, header name cases and a chunked body."""

from __future__ import annotations

from gateproof.conformance.checks.gateway._request_forms import (
    ACCEPTS,
    NAME_CASES,
    Form,
    chunked,
    unless_chunks_refused,
    with_request_form,
)
from gateproof.conformance.kit.gateway.world import World
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import expect


@check("REG-01", cases=ACCEPTS)
def agent_that_asks_for_no_media_type_is_registered(world: World, case: Form) -> None:
    """A registration with `Accept: */*` or without an Accept header is answered with 201."""
    world.agents.new()

    _answers_201(world, case)


@check("REG-06", cases=ACCEPTS)
def http_is_refused_whatever_media_type_is_asked_for(world: World, case: Form) -> None:
    """An http redirect URI is refused also with `Accept: */*` or without an Accept header."""
    world.agents.new()

    answer = with_request_form(world, case).gateway.register(
        world.agents.metadata(redirect_uris=["http://agent.example/callback"])
    )

    expect(answer).not_granted("a client", "client_id", "client_secret")


@check("REG-01", cases=NAME_CASES)
def header_names_in_another_case_register(world: World, case: Form) -> None:
    """A registration with header names in lower or upper case is answered with 201."""
    world.agents.new()

    _answers_201(world, case)


@check("REG-01")
def chunked_registration_is_answered_like_others(world: World) -> None:
    """A registration with a chunked body, without Content-Length, is answered with 201."""
    world.agents.new()

    _answers_201(world, chunked)


def _answers_201(world: World, form: Form) -> None:
    answer = with_request_form(world, form).gateway.register(world.agents.metadata())
    if form is chunked:
        unless_chunks_refused(answer)
    expect(world.agents.within_limits(answer)).status(201)
