"""Proxy token requests with other Accept headers, header name cases and a chunked body."""

from __future__ import annotations

from dataclasses import replace

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


@check("PROXY-01", cases=ACCEPTS)
def backend_that_asks_for_no_media_type_gets_a_token(world: World, case: Form) -> None:
    """A Proxy client with `Accept: */*` or without an Accept header gets its token."""
    world.backend.proxy_token()

    _gives_a_token(world, case)


@check("PROXY-01", cases=NAME_CASES)
def header_names_in_another_case_give_a_token(world: World, case: Form) -> None:
    """A Proxy token request with header names in lower or upper case gets a token."""
    world.backend.proxy_token()

    _gives_a_token(world, case)


@check("PROXY-01")
def chunked_request_gives_a_token(world: World) -> None:
    """A Proxy token request with a chunked body, without Content-Length, gets a token."""
    world.backend.proxy_token()

    _gives_a_token(world, chunked)


@check("PROXY-03", cases=ACCEPTS)
def wrong_secret_answers_401_whatever_media_type_is_asked_for(world: World, case: Form) -> None:
    """A wrong secret gets 401 also with `Accept: */*` or without an Accept header."""
    world.backend.proxy_token()
    client = world.projects.home().proxy_client
    wrong = world.gateway.keyring.secret("proxy_client_secret", "gateproof-wrong-secret-of-a-proxy-client")

    expect(with_request_form(world, case).gateway.proxy_token(replace(client, secret=wrong))).status(401)


def _gives_a_token(world: World, form: Form) -> None:
    answer = with_request_form(world, form).gateway.proxy_token(world.projects.home().proxy_client)

    expect(unless_chunks_refused(answer) if form is chunked else answer).status(200)
    expect.text(answer.member("access_token"), "access_token")
