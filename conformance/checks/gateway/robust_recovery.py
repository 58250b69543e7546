"""After the trouble: the normal flow works again, and nobody had to restart anything."""

from __future__ import annotations

import select
import socket
import ssl
import struct
import time
from collections.abc import Callable
from contextlib import ExitStack
from urllib.parse import urlsplit

from conformance import odd_input as odd
from conformance.check import check
from conformance.claims import Broken, LeftOut, Unmet, expect, require
from conformance.gateway import Gateway
from conformance.seclusion import secluded
from conformance.wire import agent as agent_wire
from conformance.wire import backend as backend_wire
from conformance.wire.exchange import Exchange, Request
from conformance.wire.place import Place, trust
from conformance.wire.secret import Secret
from conformance.wire.tls import address
from conformance.world import World

FLOOD = 240
# So many connections are broken off at a time, so many times, after so long.
AT_ONCE = 4
ROUNDS = 10
MOMENT_S = 0.05
# How long the target may take to find its feet.
RECOVERY_S = 10.0


@check("ROBUST-02", alone=True)
def normal_flow_works_after_a_flood_of_bad_input(gateway: Gateway, world: World) -> None:
    """Hundreds of odd requests at once, at every endpoint, leave nothing behind that stops the next user."""
    _flow(world)

    answered = gateway.wire.volley(_flood(gateway, world), at_once=8)

    require.that(answered >= FLOOD // 2, "the flood", expected=f"{FLOOD} answers", got=f"{answered}")
    _works_again(world)


@check("ROBUST-02", alone=True, cases=("base", "core"))
def normal_flow_works_after_connections_broke_off(gateway: Gateway, world: World, case: str) -> None:
    """Clients that went away in the middle of a request took nothing with them."""
    _flow(world)
    url = (
        agent_wire.registration_endpoint(gateway.base_url)
        if case == "base"
        else agent_wire.token_endpoint(gateway.core_url)
    )
    place = gateway.wire.place_of(url)
    require.that(place is not None, f"the {case} origin", expected="an address of the target", got=url)
    assert place is not None  # noqa: S101 - required above

    broken = sum(_break_off(place, url) for _ in range(ROUNDS))

    wanted = ROUNDS * AT_ONCE
    require.that(broken == wanted, "connections", expected=f"{wanted} broken off", got=f"{broken}")
    _works_again(world)


@check(
    "ROBUST-02",
    needs=["merchant"],
    alone=True,
    cases=("server_error", "invalid_json", "wrong_shape", "html"),
)
def normal_flow_works_after_the_merchant_broke(world: World, case: str) -> None:
    """A merchant that failed while a user signed in, and works again, finds the gateway as it was."""
    _flow(world)
    # A user of whom the gateway has no token yet: one that it had would hide that nothing works.
    alone = secluded(world)
    alone.script(provisioning=case)
    # Best effort: what comes of this sign-in is judged elsewhere.
    gateway = world.gateway
    gateway.visit(world.attempt(resource=alone.resource, user=alone.user), wherever=True)
    try:
        alone.require_outcome(case)
    except Unmet as unmet:
        raise LeftOut("the gateway gets merchant tokens by the grant that signs users in") from unmet
    alone.script()

    def again() -> Exchange:
        return world.redeem(alone.grant(), alone.proxy_token())

    _succeeds(again, "redemption after the merchant was mended")


def _flow(world: World) -> None:
    """The positive twin, before the trouble begins."""
    require(world.redeem(world.grant(), world.proxy_token())).status(200)


def _works_again(world: World) -> None:
    def again() -> Exchange:
        agent = world.gateway.register(world.metadata())
        expect(agent).status(200, 201)
        attempt = world.attempt(world.agent_of(agent))
        visit = world.gateway.visit(attempt)
        code = expect.text(visit.parameter("code"), f"code, after {visit.outcome()}")
        tokens = world.gateway.exchange(world.authorized(attempt, code))
        expect(tokens).status(200)
        proxy = world.gateway.proxy_token(world.home().proxy_client)
        expect(proxy).status(200)
        bearer = Secret("access_token", str(tokens.member("access_token")))
        token = Secret("proxy_token", str(proxy.member("access_token")))
        return _redeemed(world, bearer, token)

    _succeeds(again, "redemption at the end of the normal flow")


def _redeemed(world: World, bearer: Secret, proxy_token: Secret) -> Exchange:
    """A 404 right after sign-in may still become a token."""
    deadline = time.monotonic() + RECOVERY_S
    while True:
        answer = world.gateway.redeem(bearer, proxy_token, world.home().resource.indicator)
        if answer.status != 404 or time.monotonic() > deadline:
            return answer
        time.sleep(0.25)


def _succeeds(flow: Callable[[], Exchange], what: str) -> None:
    """The flow succeeds before the deadline, at the first try or at a later one."""
    deadline = time.monotonic() + RECOVERY_S
    while True:
        try:
            answer = flow()
        except Broken:
            if time.monotonic() > deadline:
                raise
        else:
            if answer.status == 200 or time.monotonic() > deadline:
                break
        time.sleep(0.5)
    expect.that(answer.status == 200, what, expected="status 200", got=answer.outcome())


def _flood(gateway: Gateway, world: World) -> list[Request]:
    """Odd requests to every endpoint, in turns."""
    register = agent_wire.registration(agent_wire.registration_endpoint(gateway.base_url), {})
    tokens = agent_wire.form_post(agent_wire.token_endpoint(gateway.core_url), [])
    nobody = Secret("nobody", "nobody")
    redeem = backend_wire.redemption(gateway.base_url, bearer=nobody, proxy_token=nobody, resource=None)
    resource = world.home().resource
    pages = [
        Request(method="GET", url=f"{agent_wire.authorization_endpoint(gateway.base_url, resource.id)}?a=b"),
        Request(method="GET", url=agent_wire.discovery_url(gateway.base_url, f"{resource.id}x")),
    ]
    bodies = [body for body in odd.BODIES.values() if len(body) < 10_000]
    posts = [
        Request(method="POST", url=each.url, headers=each.headers, body=body)
        for body in bodies
        for each in (register, tokens, redeem)
    ]
    turns = [request for post in posts for request in (post, *pages)]
    return (turns * (FLOOD // len(turns) + 1))[:FLOOD]


def _break_off(place: Place, url: str) -> int:
    """Half requests, a few at a time, and then a reset of each; the number of those that got that far.

    A reset takes along what the target has not read yet. So it is left a moment to read, and no more than a
    few at a time, because a target may well serve only so many.
    """
    with ExitStack() as stack:
        halves = [half for _ in range(AT_ONCE) if (half := _half_a_request(place, url, stack)) is not None]
        # Whoever answers half a request has read it, too.
        select.select(halves, [], [], MOMENT_S)
        return len(halves)


def _half_a_request(place: Place, url: str, stack: ExitStack) -> socket.socket | None:
    half = (
        b"POST / HTTP/1.1\r\nHost: gateway\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{"
    )
    try:
        plain = stack.enter_context(socket.create_connection(address(place, url), timeout=RECOVERY_S))
        # A linger of zero seconds makes the close a reset.
        plain.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        if not url.startswith("https:"):
            plain.sendall(half)
            return plain
        context = trust(place)
        secure = stack.enter_context(context.wrap_socket(plain, server_hostname=urlsplit(url).hostname))
        secure.sendall(half)
    except (OSError, ssl.SSLError):
        return None
    return secure
