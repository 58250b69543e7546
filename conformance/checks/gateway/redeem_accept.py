"""Redemptions with other Accept headers, header name cases and a chunked body."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from gateproof.conformance.checks.gateway._json_bodies import expect_json
from gateproof.conformance.checks.gateway._request_forms import (
    ACCEPTS,
    NAME_CASES,
    Form,
    chunked,
    unless_chunks_refused,
    with_request_form,
)
from gateproof.conformance.kit.gateway.gateway import Gateway
from gateproof.conformance.kit.gateway.isolated_user import isolated_user, needing_reauthorization
from gateproof.conformance.kit.gateway.valid_tokens import valid_tokens
from gateproof.conformance.kit.gateway.worker_state import ValidTokens
from gateproof.conformance.kit.gateway.world import World
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import expect, require
from gateproof.conformance.wire.exchange import Exchange

Asked = Callable[[Gateway, ValidTokens], Exchange]
UNKNOWN = "https://gateproof.example/nobody"
REFUSED: Mapping[str, Asked] = {
    "no-authorization": lambda gateway, good: gateway.redeem(None, good.proxy_token, good.indicator),
    "id-token": lambda gateway, good: gateway.redeem(good.grant.id_token, good.proxy_token, good.indicator),
    "unknown-resource": lambda gateway, good: gateway.redeem(
        good.grant.access_token, good.proxy_token, UNKNOWN
    ),
}


@check("REDEEM-01", cases=ACCEPTS)
def backend_that_asks_for_no_media_type_redeems(world: World, case: Form) -> None:
    """A backend with `Accept: */*` or without an Accept header gets the merchant token."""
    _redeems(world, case)


@check("REDEEM-01", cases=NAME_CASES)
def header_names_in_another_case_redeem(world: World, case: Form) -> None:
    """A redemption with header names in lower or upper case gives the merchant token."""
    _redeems(world, case)


@check("REDEEM-01")
def chunked_redemption_is_answered_like_others(world: World) -> None:
    """A redemption with a chunked body, without Content-Length, gives the merchant token."""
    good = valid_tokens(world)
    require(world.gateway.redeem(good.grant.access_token, good.proxy_token, good.indicator)).status(200)

    _redeems(world, chunked)


@check("REDEEM-03", cases=ACCEPTS)
def missing_authorization_answers_400_to_anybody(world: World, case: Form) -> None:
    """A redemption without Authorization gets 400 also with `Accept: */*` or without an Accept header."""
    _answers(world, case, "no-authorization", 400)


@check("REDEEM-07", cases=ACCEPTS)
def id_token_answers_401_to_anybody(world: World, case: Form) -> None:
    """A redemption with an ID token gets 401 also with `Accept: */*` or without an Accept header."""
    _answers(world, case, "id-token", 401)


@check("REDEEM-09", cases=ACCEPTS)
def unknown_resource_answers_404_to_anybody(world: World, case: Form) -> None:
    """An unknown Resource indicator gets 404 also with `Accept: */*` or without an Accept header."""
    _answers(world, case, "unknown-resource", 404)


@check("REDEEM-17", cases=("refused-registration", *REFUSED))
def refusal_is_json_whatever_media_type_is_asked_for(world: World, case: str) -> None:
    """A refusal has a JSON body or none, also with `Accept: */*` or without an Accept header."""
    good = valid_tokens(world)
    bad = world.agents.metadata(redirect_uris=["http://agent.example/callback"])
    for form in ACCEPTS.values():
        gateway = with_request_form(world, form).gateway
        expect_json(REFUSED[case](gateway, good) if case in REFUSED else gateway.register(bad))


@check("REDEEM-17", needs=["merchant"], alone=True)
def reauthentication_is_json_whatever_media_type_is_asked_for(world: World) -> None:
    """A 410 has a JSON body or none, also with `Accept: */*` or without an Accept header."""
    world.backend.require_redeemed(world.grant(), world.backend.proxy_token())
    proxy_token, grant, _ = needing_reauthorization(isolated_user(world), issue_refresh_token=False)
    for form in ACCEPTS.values():
        gateway = with_request_form(world, form).gateway
        expect_json(gateway.redeem(grant.access_token, proxy_token, grant.resource.indicator))


def _redeems(world: World, form: Form) -> None:
    good = valid_tokens(world)

    answer = with_request_form(world, form).gateway.redeem(
        good.grant.access_token, good.proxy_token, good.indicator
    )

    expect(unless_chunks_refused(answer) if form is chunked else answer).status(200)
    expect.text(answer.member("access_token"), "access_token")


def _answers(world: World, form: Form, case: str, status: int) -> None:
    good = valid_tokens(world)

    expect(REFUSED[case](with_request_form(world, form).gateway, good)).status(status)
