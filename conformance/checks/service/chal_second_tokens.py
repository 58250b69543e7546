"""A token for another audience beside a good one: what is redeemed has to be what was validated."""

from __future__ import annotations

from collections.abc import Callable
from urllib.parse import quote

from gateproof.conformance.checks.service._altered_tokens import good_token
from gateproof.conformance.checks.service._failing_parties import OTHER, USER, shows_orders
from gateproof.conformance.kit.service.service import Service, require_served
from gateproof.conformance.kit.service.world import ServiceWorld
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import expect, require
from gateproof.conformance.wire.exchange import Exchange
from gateproof.conformance.wire.secret import Secret
from gateproof.fakes.gateway.script import Endpoint

_ANOTHER = "https://other.example"
# Headers in which an authenticating proxy or a client library sends a token.
_BARE = ("X-Forwarded-Access-Token", "X-Auth-Request-Access-Token", "X-Access-Token")


def _first(service: Service, good: str, bad: str) -> Exchange:
    return service.operate(f"Bearer {bad}", f"Bearer {good}")


def _last(service: Service, good: str, bad: str) -> Exchange:
    return service.operate(f"Bearer {good}", f"Bearer {bad}")


def _in_another_header(service: Service, good: str, bad: str) -> Exchange:
    headers = (*((name, bad) for name in _BARE), ("X-Forwarded-Authorization", f"Bearer {bad}"))
    return service.operate(f"Bearer {good}", headers=headers)


def _in_the_query(service: Service, good: str, bad: str) -> Exchange:
    mark = "&" if "?" in service.operation.path else "?"
    return service.operate(f"Bearer {good}", query=f"{mark}access_token={quote(bad)}")


def _in_a_cookie(service: Service, good: str, bad: str) -> Exchange:
    return service.operate(f"Bearer {good}", headers=(("Cookie", f"access_token={bad}"),))


PLACES: dict[str, Callable[[Service, str, str], Exchange]] = {
    "before-the-good-one": _first,
    "after-the-good-one": _last,
    "in-another-header": _in_another_header,
    "in-the-query": _in_the_query,
    "in-a-cookie": _in_a_cookie,
}


@check("CHAL-06", cases=PLACES)
def second_token_is_not_redeemed_in_place_of_the_good_one(
    service: Service, world: ServiceWorld, case: Callable[[Service, str, str], Exchange]
) -> None:
    """Another user's token for another audience is never redeemed, if it comes along with a good token.

    Redemption would accept it, and it is in no place where it counts. The service may also refuse such a
    request.
    """
    gateway = world.gateway
    good_token(service, world)
    require_served(service.serve(gateway.access_token(OTHER)), gateway.orders_of(OTHER))
    mark, bad = gateway.journal.mark(), gateway.misplaced_token(OTHER, aud=[_ANOTHER])
    good = world.unseen_token(USER)
    service.keyring.add(Secret("access_token", good))
    answer = case(service, good, bad)

    redeemed = (
        call.header("authorization") or "" for call in gateway.journal.since(mark, Endpoint.REDEMPTION)
    )
    expect.that(
        not any(bad in each for each in redeemed),
        "redemption for a request with a good token and one for another audience",
        expected="the good token, or no redemption",
        got="the token for another audience",
        exchange=answer,
    )
    require.that(
        answer.answer is not None, answer.step, expected="an answer", got=answer.outcome(), exchange=answer
    )
    expect.that(
        not shows_orders(answer, world, OTHER),
        answer.step,
        expected=f"no orders of {OTHER}",
        got=f"{answer.outcome()} with them",
        exchange=answer,
    )
