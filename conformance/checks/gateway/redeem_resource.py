"""Redemption by a Resource that is not named, or not named exactly."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any
from unicodedata import normalize
from urllib.parse import urlencode

from gateproof.conformance.checks.gateway._belonging import belongs
from gateproof.conformance.kit.gateway.gateway import Gateway
from gateproof.conformance.kit.gateway.valid_tokens import redeemable
from gateproof.conformance.kit.gateway.worker_state import ValidTokens
from gateproof.conformance.kit.gateway.world import World
from gateproof.conformance.kit.inputs.near_indicators import NEAR_MISSES
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import LeftOut, expect
from gateproof.conformance.wire import backend as backend_wire
from gateproof.conformance.wire.exchange import Exchange

FORM = "application/x-www-form-urlencoded"


@check("REDEEM-09", cases=NEAR_MISSES)
def nearly_the_indicator_answers_404(gateway: Gateway, world: World, case: Callable[[str], str]) -> None:
    """What is not the indicator to the letter names no Resource."""
    good = redeemable(world)
    wrong = case(good.indicator)
    if wrong == good.indicator or wrong in world.projects.pool.indicators():
        raise LeftOut("the indicator of this Resource has no such near miss")

    _not_found(gateway, good, wrong)


@check("REDEEM-09", cases=("resource-id", "project-id", "merchant-client-id", "made-up"))
def another_name_answers_404(gateway: Gateway, world: World, case: str) -> None:
    """The Resource goes by its indicator, and by nothing else that it is known by."""
    good = redeemable(world)
    resource = good.grant.resource
    names = {
        "resource-id": resource.id,
        "project-id": resource.project_id,
        "merchant-client-id": resource.merchant_client_id or "gateway",
        "made-up": f"https://api.merchant.example/{world.unique()}",
    }

    _not_found(gateway, good, names[case])


@check("REDEEM-09", needs=["two-projects"])
def indicator_of_another_project_answers_404(gateway: Gateway, world: World) -> None:
    """A Resource of another Project is none here, although the user has a merchant token there."""
    good, abroad = redeemable(world), world.projects.another()
    if abroad.resource.indicator == good.indicator:
        raise LeftOut("the two Projects of the target file share a merchant API")
    elsewhere = world.grant(resource=abroad.resource)
    world.backend.require_redeemed(elsewhere, world.backend.proxy_token(abroad))

    _not_found(gateway, good, abroad.resource.indicator)


# How a letter is spelled, and how it might be as well.
UNICODE_FORMS = {
    "composed": (normalize("NFC", "café"), normalize("NFD", "café")),
    "decomposed": (normalize("NFD", "café"), normalize("NFC", "café")),
}
PERCENT_ENCODINGS = {
    "small-letters": ("caf%c3%a9", "caf%C3%A9"),
    "capitals": ("caf%C3%A9", "caf%c3%a9"),
    "decoded": ("caf%c3%a9", normalize("NFC", "café")),
}


@check("REDEEM-09", needs=["control:create_resource"], cases=UNICODE_FORMS)
def other_unicode_form_answers_404(gateway: Gateway, world: World, case: tuple[str, str]) -> None:
    """Two spellings of one letter look alike, and are two indicators."""
    _spelled(gateway, world, case)


@check("REDEEM-09", needs=["control:create_resource"], cases=PERCENT_ENCODINGS)
def other_percent_encoding_answers_404(gateway: Gateway, world: World, case: tuple[str, str]) -> None:
    """What decodes to the same is not the same indicator."""
    _spelled(gateway, world, case)


def _spelled(gateway: Gateway, world: World, case: tuple[str, str]) -> None:
    own, other = case
    resource = world.projects.resource(indicator=f"https://api.merchant.example/{own}/{world.unique()}")
    good = ValidTokens(grant=world.grant(resource=resource), proxy_token=world.backend.proxy_token())
    world.backend.require_redeemed(good.grant, good.proxy_token)

    _not_found(gateway, good, resource.indicator.replace(own, other))


@check("REDEEM-09", needs=["control:create_resource"])
def indicator_that_begins_alike_answers_with_its_own_token(gateway: Gateway, world: World) -> None:
    """Of two Resources of which one's indicator begins with the other's, neither stands for the other.

    The user has signed in for the longer one alone: under the shorter there is nothing to find, unless the
    gateway gets a token for that one as well.
    """
    shorter = world.projects.resource(indicator=f"https://api.merchant.example/{world.unique()}")
    longer = world.projects.resource(indicator=f"{shorter.indicator}/orders")
    good = ValidTokens(grant=world.grant(resource=longer), proxy_token=world.backend.proxy_token())
    own = world.backend.require_redeemed(good.grant, good.proxy_token)

    answer = gateway.redeem(good.grant.access_token, good.proxy_token, shorter.indicator)

    # It is another Resource's own indicator: whether such a token is refused as that or as not found is open.
    if answer.status == 200:
        belongs(world, answer, good.grant.user, shorter)
        expect.that(
            answer.member("access_token") != own.member("access_token"),
            "merchant token of the Resource with the shorter indicator",
            expected="another than that of the longer one",
            got="the same",
        )
    else:
        expect(answer).not_granted("the merchant token", "access_token")


@check("REDEEM-09", needs=["control:create_resource"])
def long_indicator_counts_to_its_end(gateway: Gateway, world: World) -> None:
    """Of two indicators that differ in their three hundredth character, one names the Resource."""
    beginning = f"https://api.merchant.example/{world.unique()}/".ljust(300, "a")
    resource = world.projects.resource(indicator=f"{beginning}1")
    good = ValidTokens(grant=world.grant(resource=resource), proxy_token=world.backend.proxy_token())
    world.backend.require_redeemed(good.grant, good.proxy_token)

    _not_found(gateway, good, f"{beginning}2")


@check("REDEEM-09")
def empty_indicator_is_refused(gateway: Gateway, world: World) -> None:
    """The empty string names no Resource: 404, or what an input that says nothing is answered with."""
    _no_name(gateway, redeemable(world), "")


@check("REDEEM-09", cases=("at-its-end", "and-more"))
def indicator_and_a_null_is_refused(gateway: Gateway, world: World, case: str) -> None:
    """An indicator does not end at a null: 404, or what bad input is answered with."""
    good = redeemable(world)

    _no_name(gateway, good, f"{good.indicator}\0{'/orders' if case == 'and-more' else ''}")


def _no_name(gateway: Gateway, good: ValidTokens, resource: str) -> None:
    answer = gateway.redeem(good.grant.access_token, good.proxy_token, resource)

    expect(answer).not_granted("the merchant token", "access_token")


def _json(body: Any) -> bytes:
    return json.dumps(body).encode()


# Bodies that hold no string `resource`, though the indicator is in most of them. What comes behind a value
# that is complete is read over by many a decoder, and changes nothing of what was said.
BODIES: Mapping[str, Callable[[str], bytes]] = {
    "no-resource": lambda _: b"{}",
    "null": lambda _: _json({"resource": None}),
    "number": lambda _: _json({"resource": 1}),
    "true": lambda _: _json({"resource": True}),
    "array": lambda indicator: _json({"resource": [indicator]}),
    "array-in-array": lambda indicator: _json({"resource": [[indicator]]}),
    "empty-array": lambda _: _json({"resource": []}),
    "object": lambda indicator: _json({"resource": {"indicator": indicator}}),
    "empty-object": lambda _: _json({"resource": {}}),
    "object-of-operators": lambda _: _json({"resource": {"$ne": None}}),
    "another-name": lambda indicator: _json({"resources": indicator, "resource_id": indicator}),
    "deeper": lambda indicator: _json({"request": {"resource": indicator}}),
    "array-of-objects": lambda indicator: _json([{"resource": indicator}]),
    "string": _json,
    "bare": str.encode,
    "no-body": lambda _: b"",
    "cut-short": lambda indicator: _json({"resource": indicator})[:-1],
    "single-quotes": lambda indicator: f"{{'resource': '{indicator}'}}".encode(),
    "form": lambda indicator: urlencode({"resource": indicator}).encode(),
}


@check("REDEEM-14", cases=BODIES)
def body_without_a_resource_is_refused(gateway: Gateway, world: World, case: Callable[[str], bytes]) -> None:
    """A body that does not say by a JSON string which Resource is meant hands out nothing."""
    good = redeemable(world)

    expect(_sent(gateway, good, case(good.indicator))).not_granted("the merchant token", "access_token")


@check("REDEEM-14")
def form_is_refused(gateway: Gateway, world: World) -> None:
    """A form is no JSON, even where it says so and names the right Resource."""
    good = redeemable(world)
    body = urlencode({"resource": good.indicator}).encode()

    answer = _sent(gateway, good, body, content_type=FORM)

    expect(answer).not_granted("the merchant token", "access_token")


@check("REDEEM-14")
def resource_in_the_query_is_none(gateway: Gateway, world: World) -> None:
    """The Resource is named in the body; an address with it in the query names none."""
    good = redeemable(world)

    answer = _sent(gateway, good, b"{}", query="?" + urlencode({"resource": good.indicator}))

    expect(answer).not_granted("the merchant token", "access_token")


def _not_found(gateway: Gateway, good: ValidTokens, resource: str) -> None:
    gateway.keyring.public(resource)
    answer = gateway.redeem(good.grant.access_token, good.proxy_token, resource)
    came = answer.member("access_token") is not None
    expect.that(
        answer.status == 404 and not came,
        f"redemption of {resource!r}",
        expected=f"status 404, for the indicator is {good.indicator!r}",
        got=answer.outcome() + (" with an access_token" if came else ""),
    )


def _sent(
    gateway: Gateway, good: ValidTokens, body: bytes, *, content_type: str = "", query: str = ""
) -> Exchange:
    """The redemption that works, with another body."""
    request = backend_wire.redemption(
        gateway.base_url, bearer=good.grant.access_token, proxy_token=good.proxy_token, resource=""
    )
    headers = tuple(
        (name, content_type if content_type and name == "Content-Type" else value)
        for name, value in request.headers
    )
    return gateway.wire.send(
        "redemption", replace(request, url=request.url + query, headers=headers, body=body)
    )
