"""Redemption with a missing or inexact Resource indicator."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any
from unicodedata import normalize
from urllib.parse import urlencode

from gateproof.conformance.checks.gateway._token_owner import expect_owner
from gateproof.conformance.kit.gateway.gateway import Gateway
from gateproof.conformance.kit.gateway.valid_tokens import valid_tokens
from gateproof.conformance.kit.gateway.worker_state import ValidTokens
from gateproof.conformance.kit.gateway.world import World
from gateproof.conformance.kit.inputs.near_indicators import NEAR_MISSES
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import LeftOut, expect, values_of_choice
from gateproof.conformance.wire import backend as backend_wire
from gateproof.conformance.wire.exchange import Exchange

FORM = "application/x-www-form-urlencoded"


@check("REDEEM-09", cases=NEAR_MISSES)
def nearly_the_indicator_answers_404(gateway: Gateway, world: World, case: Callable[[str], str]) -> None:
    """A resource that differs slightly from the indicator is answered with 404."""
    good = valid_tokens(world)
    wrong = case(good.indicator)
    if wrong == good.indicator or wrong in world.projects.pool.indicators():
        raise LeftOut("the indicator of this Resource has no such near miss")

    _not_found(gateway, good, wrong)


@check("REDEEM-09", cases=("resource-id", "project-id", "merchant-client-id", "made-up"))
def another_name_answers_404(gateway: Gateway, world: World, case: str) -> None:
    """Another name in place of the indicator, such as the Resource ID, is answered with 404."""
    good = valid_tokens(world)
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
    """The indicator of another Project's Resource gets 404, although the user has a merchant token there."""
    good, abroad = valid_tokens(world), world.projects.another()
    if abroad.resource.indicator == good.indicator:
        raise LeftOut("the two Projects of the target file share a merchant API")
    elsewhere = world.grant(resource=abroad.resource)
    world.backend.require_redeemed(elsewhere, world.backend.proxy_token(abroad))

    _not_found(gateway, good, abroad.resource.indicator)


# Two Unicode normal forms of one letter.
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
    """The indicator in another Unicode normal form is answered with 404."""
    _spelled(gateway, world, case)


@check("REDEEM-09", needs=["control:create_resource"], cases=PERCENT_ENCODINGS)
def other_percent_encoding_answers_404(gateway: Gateway, world: World, case: tuple[str, str]) -> None:
    """The indicator with another percent-encoding is answered with 404."""
    _spelled(gateway, world, case)


def _spelled(gateway: Gateway, world: World, case: tuple[str, str]) -> None:
    own, other = case
    good = _redeeming_by(world, f"https://api.merchant.example/{own}/{world.unique()}")

    _not_found(gateway, good, good.indicator.replace(own, other))


def _redeeming_by(world: World, indicator: str) -> ValidTokens:
    """Tokens that redeem with an unusual indicator; a gateway may refuse a Resource that has one."""
    resource, proxy_token = world.projects.resource(indicator=indicator), world.backend.proxy_token()
    with values_of_choice():
        good = ValidTokens(grant=world.grant(resource=resource), proxy_token=proxy_token)
        world.backend.require_redeemed(good.grant, proxy_token)
    return good


@check("REDEEM-09", needs=["control:create_resource"])
def indicator_that_begins_alike_answers_with_its_own_token(gateway: Gateway, world: World) -> None:
    """If one Resource's indicator is a prefix of another's, each redeems its own token or none.

    The user has signed in only at the Resource with the longer indicator. Redemption with the shorter one
    finds no token, unless the gateway obtained one for it as well.
    """
    shorter = world.projects.resource(indicator=f"https://api.merchant.example/{world.unique()}")
    longer = world.projects.resource(indicator=f"{shorter.indicator}/orders")
    good = ValidTokens(grant=world.grant(resource=longer), proxy_token=world.backend.proxy_token())
    own = world.backend.require_redeemed(good.grant, good.proxy_token)

    answer = gateway.redeem(good.grant.access_token, good.proxy_token, shorter.indicator)

    # This is another Resource's own indicator, so the gateway may refuse the token or answer 404.
    if answer.status == 200:
        expect_owner(world, answer, good.grant.user, shorter)
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
    """Of two indicators that differ only after 300 characters, only the right one redeems."""
    beginning = f"https://api.merchant.example/{world.unique()}/".ljust(300, "a")
    good = _redeeming_by(world, f"{beginning}1")

    _not_found(gateway, good, f"{beginning}2")


@check("REDEEM-09")
def empty_indicator_is_refused(gateway: Gateway, world: World) -> None:
    """A redemption with an empty resource is refused."""
    _no_name(gateway, valid_tokens(world), "")


@check("REDEEM-09", cases=("at-its-end", "and-more"))
def indicator_and_a_null_is_refused(gateway: Gateway, world: World, case: str) -> None:
    """The indicator followed by a null character is refused."""
    good = valid_tokens(world)

    _no_name(gateway, good, f"{good.indicator}\0{'/orders' if case == 'and-more' else ''}")


def _no_name(gateway: Gateway, good: ValidTokens, resource: str) -> None:
    answer = gateway.redeem(good.grant.access_token, good.proxy_token, resource)

    expect(answer).not_granted("the merchant token", "access_token")


def _json(body: Any) -> bytes:
    return json.dumps(body).encode()


# Bodies without a string `resource`; most contain the indicator. There is no case with data after the JSON
# value: many decoders ignore it.
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
    """A body without the resource as a JSON string is refused."""
    good = valid_tokens(world)

    expect(_sent(gateway, good, case(good.indicator))).not_granted("the merchant token", "access_token")


@check("REDEEM-14")
def form_is_refused(gateway: Gateway, world: World) -> None:
    """A form body with a form Content-Type is refused."""
    good = valid_tokens(world)
    body = urlencode({"resource": good.indicator}).encode()

    answer = _sent(gateway, good, body, content_type=FORM)

    expect(answer).not_granted("the merchant token", "access_token")


@check("REDEEM-14")
def resource_in_the_query_is_none(gateway: Gateway, world: World) -> None:
    """A resource in the query instead of the body is refused."""
    good = valid_tokens(world)

    answer = _sent(gateway, good, b"{}", query="?" + urlencode({"resource": good.indicator}))

    expect(answer).not_granted("the merchant token", "access_token")


def _not_found(gateway: Gateway, good: ValidTokens, resource: str) -> None:
    gateway.keyring.public(resource)
    answer = gateway.redeem(good.grant.access_token, good.proxy_token, resource)
    came = bool(answer.member("access_token"))
    expect.that(
        answer.status == 404 and not came,
        f"redemption of {resource!r}",
        expected=f"status 404, for the indicator is {good.indicator!r}",
        got=answer.outcome() + (" with an access_token" if came else ""),
        exchange=answer,
    )


def _sent(
    gateway: Gateway, good: ValidTokens, body: bytes, *, content_type: str = "", query: str = ""
) -> Exchange:
    """The working redemption with another body."""
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
