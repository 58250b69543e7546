"""What becomes of an operation when the gateway or the merchant does not do its part."""

from __future__ import annotations

import time
from collections.abc import Iterable

from conformance.check import check
from conformance.claims import expect, fired, observe
from conformance.faults.fault import Fault, Hop, Layer
from conformance.run.service_world import USERS, ServiceWorld
from conformance.service import Service, holds_orders, served
from conformance.wire.exchange import Exchange
from fakes.gateway.journal import Call
from fakes.gateway.script import Answer, Endpoint

USER, OTHER = USERS
# What is still bounded (rule BACK-06).
MOST_TRIES = 10
LONGEST_S = 60.0
RECOVERS_WITHIN_S = 35.0
HOP = {
    Endpoint.TOKEN: Hop.SERVICE_TO_GATEWAY,
    Endpoint.REDEMPTION: Hop.SERVICE_TO_GATEWAY,
    Endpoint.MERCHANT_API: Hop.SERVICE_TO_MERCHANT,
}
FAILURES = {
    "500": Answer(status=500),
    "503": Answer(status=503),
    "reset": Answer(reset=True),
    "hang": Answer(hangs=True),
    "not-json": Answer(body=b"<!doctype html><title>Maintenance</title>"),
    "cut-json": Answer(body=b'{"access_token": "'),
    "wrong-shape": Answer(body=b'{"access_token": ["none"], "orders": 7, "expires_in": {}}'),
    "a-list": Answer(body=b"[]"),
}
BREAKING = {
    f"{endpoint.value}, {name}": (endpoint, name)
    for endpoint in (Endpoint.REDEMPTION, Endpoint.MERCHANT_API)
    for name in FAILURES
}
REDIRECTS = {
    f"{endpoint.value}, {status}": (endpoint, status)
    for endpoint in (Endpoint.TOKEN, Endpoint.REDEMPTION, Endpoint.MERCHANT_API)
    for status in (301, 302, 303, 307, 308)
}


@check("BACK-06", needs=["faults"], cases=BREAKING)
def failing_party_costs_no_more_than_a_bounded_try(
    service: Service, world: ServiceWorld, case: tuple[Endpoint, str]
) -> None:
    """While a party fails the service answers in time, tries a few times, and works when it is over."""
    endpoint, name = case
    _works(service, world)
    answer, calls = _failing(service, world, endpoint, FAILURES[name])

    fired(_fault(endpoint, name), len(calls))
    _bounded(answer, calls, endpoint)
    expect.that(
        not holds_orders(answer, world.gateway.orders_of(USER)) or name in {"wrong-shape", "a-list"},
        answer.step,
        expected="no orders: there was nobody to get them from",
        got="the orders",
        exchange=answer,
    )
    _recovers(service, world)


@check("BACK-06", needs=["faults"], cases=("500", "reset", "hang", "not-json", "wrong-shape"))
def failing_token_endpoint_costs_no_more_than_a_bounded_try(
    service: Service, world: ServiceWorld, case: str
) -> None:
    """The same while the gateway hands out no Proxy token, and the old one is dead."""
    _works(service, world)
    world.gateway.revoke_proxy_tokens()
    answer, calls = _failing(service, world, Endpoint.TOKEN, FAILURES[case])
    asked = [call for call in calls if call.endpoint is Endpoint.TOKEN]
    if asked:
        # A service that waits for the lifetime to pass asks nothing now, and has nothing to be judged by.
        fired(_fault(Endpoint.TOKEN, case), len(asked))

    _bounded(answer, calls, Endpoint.TOKEN)
    _recovers(service, world)


@check("BACK-07", cases=("400", "401", "404", "410"))
def refused_redemption_brings_no_data(service: Service, world: ServiceWorld, case: str) -> None:
    """A redemption that is refused ends the operation: no orders, no crash, no storm of tries."""
    _works(service, world)
    error = "reauthentication_required" if case == "410" else "refused"
    answer, calls = _failing(
        service, world, Endpoint.REDEMPTION, Answer(status=int(case), members={"error": error})
    )

    _nothing_served(answer, world)
    _bounded(answer, calls, Endpoint.REDEMPTION)
    observe(**{f"status_for_{case}": answer.status, "redemptions": len(calls)})
    _recovers(service, world)


@check("BACK-08")
def token_of_another_project_brings_no_data(service: Service, world: ServiceWorld) -> None:
    """A token of a Project that is not the Proxy client's is refused at redemption, and opens nothing."""
    gateway = world.gateway
    _works(service, world)
    ext = {**gateway.claims(USER)["ext"], "project_id": "prj_another"}
    token = gateway.access_token(USER, ext=ext)
    gateway.let_redeem(token, "")
    gateway.script.always(Endpoint.REDEMPTION, Answer(status=401, members={"error": "wrong_project"}))
    answer = service.serve_once(token)
    gateway.script.clear()

    _nothing_served(answer, world)


@check("BACK-09", cases=REDIRECTS)
def redirect_to_another_host_gets_no_credential(
    service: Service, world: ServiceWorld, case: tuple[Endpoint, int]
) -> None:
    """Whoever is told to go elsewhere takes no credential along."""
    endpoint, status = case
    gateway, mark = world.gateway, world.thief.mark()
    _works(service, world)
    if endpoint is Endpoint.TOKEN:
        gateway.revoke_proxy_tokens()
    token = gateway.access_token(USER)
    before = gateway.journal.mark()
    gateway.script.always(
        endpoint, Answer(status=status, headers={"location": f"{world.thief_url}/elsewhere"})
    )
    answer = service.serve_once(token)
    gateway.script.clear()
    asked = gateway.journal.since(before, endpoint)
    stolen = [call for call in world.thief.since(mark) if _credentials(call, world, token)]

    if endpoint is not Endpoint.TOKEN:
        fired(_fault(endpoint, f"redirect-{status}"), len(asked))
    observe(followed=len(world.thief.since(mark)), status=answer.status)
    expect.that(
        not stolen,
        f"another host, to which the {endpoint.value} sent the service",
        expected="no call with a credential",
        got=", ".join(sorted({name for call in stolen for name in _credentials(call, world, token)})),
    )
    _recovers(service, world)


@check("BACK-10")
def two_users_calls_never_mix(service: Service, world: ServiceWorld) -> None:
    """Calls of two users at the same time each bring their own orders, and never the other's."""
    gateway = world.gateway
    for user in USERS:
        served(service.serve(gateway.access_token(user)), gateway.orders_of(user))
    # Answers that come late meet each other.
    gateway.script.always(Endpoint.REDEMPTION, Answer(delay_s=0.03))
    gateway.script.always(Endpoint.MERCHANT_API, Answer(delay_s=0.03))
    users = [user for _ in range(16) for user in USERS]
    answers = service.serve_all([gateway.access_token(user) for user in users], at_once=8)
    gateway.script.clear()
    mixed = [
        user
        for user, answer in zip(users, answers, strict=True)
        if any(order["id"] in _text(answer) for order in gateway.orders_of(OTHER if user == USER else USER))
    ]
    own = sum(
        holds_orders(answer, gateway.orders_of(user)) for user, answer in zip(users, answers, strict=True)
    )

    expect.that(
        not mixed,
        f"{len(users)} calls of two users at the same time",
        expected="nobody's but their own orders",
        got=f"{len(mixed)} with the other's",
    )
    expect.that(
        own > len(users) // 2,
        f"{len(users)} calls of two users",
        expected="their own orders",
        got=f"in {own}",
    )


@check("BACK-11")
def merchant_token_is_not_used_past_its_expiry(service: Service, world: ServiceWorld) -> None:
    """Past the `expires_at` of the redemption, its merchant token is not shown to the merchant any more."""
    gateway = world.gateway
    _works(service, world)
    expires = time.time() + 2
    said = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(expires))
    gateway.script.tape(Endpoint.REDEMPTION, [Answer(members={"expires_at": said})])
    token, before = gateway.access_token(USER), set(gateway.merchant_tokens)
    served(service.serve(token), gateway.orders_of(USER))
    old = set(gateway.merchant_tokens) - before
    # Second thoughts about clocks: a whole second is cut off above, and one is granted here.
    time.sleep(max(0.0, expires + 1 - time.time()))
    mark = gateway.journal.mark()
    service.serve(token)
    shown = [
        call.header("authorization") or "" for call in gateway.journal.since(mark, Endpoint.MERCHANT_API)
    ]

    expect.that(
        not any(value.endswith(each) for value in shown for each in old),
        "call of the merchant API past expires_at",
        expected="another merchant token, or no call",
        got="the one that has expired",
    )


def _works(service: Service, world: ServiceWorld) -> None:
    gateway = world.gateway
    served(service.serve(gateway.access_token(USER)), gateway.orders_of(USER))


def _failing(
    service: Service, world: ServiceWorld, endpoint: Endpoint, failure: Answer
) -> tuple[Exchange, list[Call]]:
    """The operation while an endpoint fails, and all calls that the endpoint got of it.

    The token is a fresh one: of another the service may still have a merchant token.
    """
    gateway, mark = world.gateway, world.gateway.journal.mark()
    gateway.script.always(endpoint, failure)
    answer = service.serve_once(gateway.access_token(USER))
    gateway.script.clear()
    return answer, gateway.journal.since(mark, endpoint)


def _bounded(answer: Exchange, calls: Iterable[Call], endpoint: Endpoint) -> None:
    tries = len(list(calls))
    elapsed = answer.answer.elapsed_s if answer.answer is not None else LONGEST_S
    observe(tries=tries, answered_after_s=round(elapsed, 1))
    expect.that(
        answer.answer is not None and elapsed <= LONGEST_S,
        answer.step,
        expected=f"an answer within {LONGEST_S:.0f} s",
        got=answer.outcome(),
        exchange=answer,
    )
    expect.that(
        tries <= MOST_TRIES,
        f"calls of the {endpoint.value} for one operation",
        expected=f"{MOST_TRIES} at most",
        got=f"{tries}",
    )


def _nothing_served(answer: Exchange, world: ServiceWorld) -> None:
    expect.that(
        answer.answer is not None, answer.step, expected="an answer", got=answer.outcome(), exchange=answer
    )
    expect.that(
        not any(order["id"] in _text(answer) for user in USERS for order in world.gateway.orders_of(user)),
        answer.step,
        expected="no business data",
        got="orders",
        exchange=answer,
    )


def _recovers(service: Service, world: ServiceWorld) -> None:
    """Nothing fails any more: before long the operation works."""
    gateway, until, pause = world.gateway, time.monotonic() + RECOVERS_WITHIN_S, 0.1
    answer = service.serve(gateway.access_token(USER))
    while not holds_orders(answer, gateway.orders_of(USER)) and time.monotonic() < until:
        time.sleep(pause)
        pause = min(2.0, 2 * pause)
        answer = service.serve(gateway.access_token(USER))
    expect.that(
        holds_orders(answer, gateway.orders_of(USER)),
        "operation after everything was well again",
        expected="the orders",
        got=answer.outcome(),
        exchange=answer,
    )


def _credentials(call: Call, world: ServiceWorld, token: str) -> list[str]:
    gateway, text = world.gateway, call.text()
    authorization = call.header("authorization") or ""
    known = {
        "the gateway access token": token in text,
        "a Proxy token": any(each.value in text for each in gateway.proxy_tokens),
        "the Proxy client's secret": gateway.setup.proxy_client_secret in text
        or authorization.lower().startswith("basic "),
        "a merchant token": any(each in text for each in gateway.merchant_tokens),
    }
    return [name for name, found in known.items() if found]


def _fault(endpoint: Endpoint, name: str) -> Fault:
    return Fault(
        name=f"{endpoint.value} answers {name}",
        layer=Layer.HTTP,
        hop=HOP[endpoint],
        does=f"the {endpoint.value} ends in {name}",
        holds="an answer in time, a few tries, and no credential for anybody else",
    )


def _text(answer: Exchange) -> str:
    return answer.answer.text() if answer.answer is not None else ""
