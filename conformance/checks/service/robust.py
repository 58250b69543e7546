"""Bad input, and recovery after it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from gateproof.conformance.checks.service._good_call import good_call, require_works
from gateproof.conformance.kit.inputs import odd_input as odd
from gateproof.conformance.kit.inputs.odd_requests import variations
from gateproof.conformance.kit.robust_answers import ask as ask_soundly
from gateproof.conformance.kit.robust_answers import ask_all, is_robust
from gateproof.conformance.kit.service.recovery import call_until_recovered
from gateproof.conformance.kit.service.service import Service
from gateproof.conformance.kit.service.world import USERS, ServiceWorld
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import LeftOut, expect, require
from gateproof.conformance.suite.generated_input import Draw
from gateproof.conformance.wire.exchange import Request

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

FLOOD = 200
_AROUND = {
    f"{what}, {group}": (what, group)
    for what in ("challenge", "metadata")
    for group in ("headers", "queries")
}
_METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")
# A few characters of each kind: the library needs seconds to build a table of all of Unicode.
_LETTERS = 'aZ0-_.:/\\" \x00\n\x7f\xe9\u2028\ufeff\U0001f600'
# Unusual tokens, with characters that are allowed in a header.
AUTHORIZATIONS: Mapping[str, str] = {
    "empty": "",
    "long": f"Bearer {'a' * odd.LONG}",
    "many dots": f"Bearer {'.' * 200}",
    "not base64": "Bearer a.$%&.c",
    "deep header": "Bearer " + "e30" * 300,
    "number for a header": "Bearer MQ.MQ.MQ",
    "null for a header": "Bearer bnVsbA.bnVsbA.bnVsbA",
    "list for a header": "Bearer W10.W10.W10",
    "alg is a number": "Bearer eyJhbGciOjF9.e30.e30",
    "alg is null": "Bearer eyJhbGciOm51bGx9.e30.e30",
    "kid is an object": "Bearer eyJhbGciOiJFUzI1NiIsImtpZCI6e319.e30.e30",
    "alg is a list": "Bearer eyJhbGciOltdfQ.e30.e30",
    "alg is an object": "Bearer eyJhbGciOnt9fQ.e30.e30",
    "kid is a list": "Bearer eyJhbGciOiJFUzI1NiIsImtpZCI6W119.e30.e30",
    "kid is a number": "Bearer eyJhbGciOiJFUzI1NiIsImtpZCI6MX0.e30.e30",
    "kid is constructor": "Bearer eyJhbGciOiJFUzI1NiIsImtpZCI6ImNvbnN0cnVjdG9yIn0.e30.e30",
    "kid is __proto__": "Bearer eyJhbGciOiJFUzI1NiIsImtpZCI6Il9fcHJvdG9fXyJ9.e30.e30",
    "crit is a number": "Bearer eyJhbGciOiJFUzI1NiIsImNyaXQiOjF9.e30.e30",
    "not UTF-8": "Bearer \xff\xfe",
    "tab": "Bearer\tx",
    "comma": "Bearer a, Bearer b",
}


@check("ROBUST-01")
def authorization_header_takes_anything(service: Service, world: ServiceWorld) -> None:
    """No Authorization header makes the operation answer with a server error."""
    require_works(service, world)
    requests = {name: service.request((("Authorization", value),)) for name, value in AUTHORIZATIONS.items()}

    ask_all(service, "operation", requests)


@check("ROBUST-01", cases=("metadata", "operation"))
def every_method_gets_an_answer(service: Service, world: ServiceWorld, case: str) -> None:
    """Every common method gets an answer below 500 at the operation and at the metadata."""
    require_works(service, world)
    url = service.metadata_url if case == "metadata" else service.request(()).url

    ask_all(service, case, {method: Request(method=method, url=url) for method in _METHODS})


@check("ROBUST-01")
def operation_takes_any_body(service: Service, world: ServiceWorld) -> None:
    """With a good token, no body makes the operation answer with a server error."""
    base, _ = good_call(service, world)
    requests = {
        name: Request(method="POST", url=base.url, headers=base.headers, body=body)
        for name, body in odd.BODIES.items()
    }

    ask_all(service, "operation", requests)


@check("ROBUST-01", cases=("media types", "headers", "queries"))
def operation_takes_anything_around_its_body(service: Service, world: ServiceWorld, case: str) -> None:
    """With a good token, no Content-Type, header or query makes the operation fail."""
    good, session = good_call(service, world)
    requests = variations(good, case)

    ask_all(service, "operation", requests if session is None else session.each_by_itself(requests))


@check("ROBUST-01", cases=_AROUND)
def introduction_takes_anything_around_it(
    service: Service, world: ServiceWorld, case: tuple[str, str]
) -> None:
    """No header or query causes a server error in the challenge or the metadata."""
    what, group = case
    require_works(service, world)
    usual = service.metadata() if what == "metadata" else service.operate()
    require(usual).status(200 if what == "metadata" else 401)

    ask_all(service, what, variations(usual.request, group))


@check("ROBUST-01", needs=["examples"])
def generated_tokens_get_an_answer(service: Service, world: ServiceWorld, draw: Draw) -> None:
    """A token with a generated header and claims gets an answer below 500."""
    require_works(service, world)
    header, claims, signature = world.gateway.access_token(USERS[0]).split(".")

    def holds(parts: tuple[Any, Any]) -> None:
        one, two = (odd.segment(part) if part is not None else None for part in parts)
        token = f"{one or header}.{two or claims}.{signature}"
        answer = ask_soundly(service, service.request((("Authorization", f"Bearer {token}"),)), "operation")
        expect.that(
            is_robust(answer),
            "operation",
            expected="an answer in time and below 500",
            got=f"{answer.outcome()} to {json.dumps(parts)}",
            exchange=answer,
        )

    draw.each(_parts(), holds)


@check("ROBUST-02")
def operation_works_after_a_flood(service: Service, world: ServiceWorld) -> None:
    """The operation works after hundreds of concurrent bad requests.

    A service that blocks its caller is given time to accept it again.
    """
    require_works(service, world)
    bad = [service.request((("Authorization", value),)) for value in AUTHORIZATIONS.values()]
    flood = (bad * (FLOOD // len(bad) + 1))[:FLOOD]

    answered = service.wire.send_many(flood, at_once=8)

    answer = call_until_recovered(service, world)
    expect.that(
        service.returns_orders(answer, world.gateway.orders_of(USERS[0])),
        f"operation after a flood of bad requests, of which {answered} were answered",
        expected="the orders",
        got=answer.outcome(),
        exchange=answer,
    )
    if answered < FLOOD // 2:
        raise LeftOut(f"the service limited the flood, and answered {answered} of {FLOOD}")


def _parts() -> SearchStrategy[tuple[Any, Any]]:
    from hypothesis import strategies as st  # noqa: PLC0415 - loaded by those who generate

    leaf = st.one_of(st.none(), st.booleans(), st.integers(), st.text(_LETTERS, max_size=8))
    inner = st.one_of(leaf, st.lists(leaf, max_size=3))
    names = st.sampled_from(["alg", "kid", "typ", "iss", "aud", "exp", "sub", "ext", "jwk", "crit"])
    part = st.one_of(st.none(), leaf, st.dictionaries(names, inner, max_size=5))
    return st.tuples(part, part)
