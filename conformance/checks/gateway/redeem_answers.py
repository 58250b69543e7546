"""The form of redemption answers, and what the specification leaves open about redemption."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from gateproof.conformance.kit.gateway import console
from gateproof.conformance.kit.gateway.gateway import Gateway
from gateproof.conformance.kit.gateway.isolated_user import isolated_user, needing_reauthorization
from gateproof.conformance.kit.gateway.valid_tokens import valid_tokens
from gateproof.conformance.kit.gateway.worker_state import ValidTokens
from gateproof.conformance.kit.gateway.world import World
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import expect, observe, require
from gateproof.conformance.wire.exchange import NOT_JSON, Exchange
from gateproof.conformance.wire.secret import Secret


@check("REDEEM-13")
def bearer_prefix_in_the_proxy_header(gateway: Gateway, world: World) -> None:
    """Records the answer to an X-Proxy-Token with a Bearer prefix, and the form of error bodies."""
    good = valid_tokens(world)
    prefixed = gateway.redeem(
        good.grant.access_token, Secret("proxy_token", f"Bearer {good.proxy_token.reveal()}"), good.indicator
    )
    missing = gateway.redeem(good.grant.access_token, None, good.indicator)

    observe(
        bearer_prefix_status=prefixed.status or 0,
        error_body_is_json_object=isinstance(missing.json(), dict),
        error_body_members=", ".join(sorted(missing.json())) if isinstance(missing.json(), dict) else "",
        error_content_type=missing.header("Content-Type") or "",
    )


@check("REDEEM-13", needs=["resources:2"])
def token_of_a_sibling_resource(gateway: Gateway, world: World) -> None:
    """Records whether a token for one Resource redeems at another Resource of its Project."""
    resource, sibling = console.siblings(world)
    proxy_token, grant = world.backend.proxy_token(), world.grant(resource=resource)
    world.backend.require_redeemed(world.grant(resource=sibling, agent=grant.agent), proxy_token)
    answer = gateway.redeem(grant.access_token, proxy_token, sibling.indicator)

    observe(
        sibling_status=answer.status or 0, sibling_gives_a_token=answer.member("access_token") is not None
    )


# Changes to a redemption that produce each kind of answer once.
SPOILT: Mapping[str, Callable[[Gateway, ValidTokens], Exchange]] = {
    "good": lambda gateway, good: gateway.redeem(good.grant.access_token, good.proxy_token, good.indicator),
    "no-proxy-token": lambda gateway, good: gateway.redeem(good.grant.access_token, None, good.indicator),
    "wrong-proxy-token": lambda gateway, good: gateway.redeem(
        good.grant.access_token, Secret("forged", "wrong"), good.indicator
    ),
    "wrong-access-token": lambda gateway, good: gateway.redeem(
        Secret("forged", "wrong"), good.proxy_token, good.indicator
    ),
    "wrong-resource": lambda gateway, good: gateway.redeem(
        good.grant.access_token, good.proxy_token, f"{good.indicator}/other"
    ),
}


@check("REDEEM-15", cases=SPOILT)
def answer_is_not_to_be_stored(
    gateway: Gateway, world: World, case: Callable[[Gateway, ValidTokens], Exchange]
) -> None:
    """Every redemption answer, with any status, has Cache-Control: no-store."""
    _has_no_store(case(gateway, valid_tokens(world)))


@check("REDEEM-15", cases=SPOILT)
def content_type_is_what_the_body_is(
    gateway: Gateway, world: World, case: Callable[[Gateway, ValidTokens], Exchange]
) -> None:
    """A redemption answer has a JSON Content-Type if its body is a JSON object or array, and only for JSON.

    An empty body may have any Content-Type.
    """
    _content_type_matches_the_body(case(gateway, valid_tokens(world)))


@check("REDEEM-15", needs=["merchant"], alone=True)
def answer_410_is_like_the_others(world: World) -> None:
    """The 410 for a lost merchant token has Cache-Control: no-store and the right Content-Type."""
    _, _, answer = needing_reauthorization(isolated_user(world), issue_refresh_token=False)

    _has_no_store(answer)
    _content_type_matches_the_body(answer)


def _has_no_store(answer: Exchange) -> None:
    require.that(
        answer.status in range(200, 500),
        answer.step,
        expected="an answer",
        got=answer.outcome(),
        exchange=answer,
    )
    said = ", ".join(answer.answer.headers_named("Cache-Control")) if answer.answer is not None else ""
    directives = {word.strip().lower() for word in said.split(",")}

    expect.that(
        "no-store" in directives,
        f"Cache-Control of the answer with {answer.outcome()}",
        expected="no-store",
        got=said or "no header",
        exchange=answer,
    )


def _content_type_matches_the_body(answer: Exchange) -> None:
    require.that(
        answer.status in range(200, 500),
        answer.step,
        expected="an answer",
        got=answer.outcome(),
        exchange=answer,
    )
    said = (answer.header("Content-Type") or "").partition(";")[0].strip().lower()
    declared_as_json = said == "application/json" or said.endswith("+json")
    body = answer.answer.body if answer.answer is not None else b""
    # A number is JSON, and may be plain text as well.
    may_be_json = answer.json() is not NOT_JSON
    is_json = isinstance(answer.json(), dict | list)

    expect.that(
        not body or (may_be_json if declared_as_json else not is_json),
        f"Content-Type of the answer with {answer.outcome()}",
        expected="a JSON type for a body of JSON, and another for any other",
        got=f"{said or 'no header'} for a body that is {'' if is_json else 'not '}JSON",
        exchange=answer,
    )
