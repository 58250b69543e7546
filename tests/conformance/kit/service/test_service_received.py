"""What a service tells its agents is searched for every kind of secret, whichever comes first."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path

from gateproof.conformance.kit.authority import Authority
from gateproof.conformance.kit.service.received import (
    MERCHANT_TOKEN,
    MOST_OF_A_KIND,
    PROXY_SECRET,
    ServiceReceived,
)
from gateproof.conformance.kit.service.world import ServiceWorld, set_up
from gateproof.conformance.run.context.embedded import embedded_reference, embedded_service
from gateproof.conformance.wire.exchange import Answer, Exchange, Request


def shown(text: str, authorization: str | None = None) -> Exchange:
    headers = () if authorization is None else (("Authorization", authorization),)
    request = Request(method="POST", url="https://127.0.0.1:1/orders", headers=headers)
    return Exchange(step="operation", request=request, answer=Answer(status=200, body=text.encode()))


def world_in(folder: Path) -> ServiceWorld:
    """A world whose listeners are closed again: only its secrets are needed."""
    authority = Authority(folder)
    with ExitStack() as stack:
        service = embedded_service(embedded_reference("service"), authority, folder, stack)
        return set_up(service, authority, stack)


def test_many_leaks_of_one_kind_do_not_hide_a_later_one_of_another(tmp_path: Path) -> None:
    world = world_in(tmp_path)
    received = ServiceReceived(world)
    received.begin("any check")
    for _ in range(MOST_OF_A_KIND + 5):
        received.note(shown(world.gateway.merchant_token("alice")))
    received.note(shown(world.gateway.setup.proxy_client_secret))

    found = [leak.kind for leak in received.survey().leaks]
    assert found.count(MERCHANT_TOKEN) == MOST_OF_A_KIND
    assert found.count(PROXY_SECRET) == 1


def test_what_a_token_of_the_request_says_is_no_leak(tmp_path: Path) -> None:
    world = world_in(tmp_path)
    received = ServiceReceived(world)
    received.begin("any check")
    proxy = world.gateway.setup.proxy_client_id
    token = world.gateway.access_token("alice", aud=[proxy])
    received.note(shown(f"the audience {proxy} is invalid", f"Bearer {token}"))
    quoted = len(received.survey().leaks)
    received.note(shown(f"the audience {proxy} is invalid", f"Bearer {world.gateway.access_token('alice')}"))

    assert quoted == 0
    assert len(received.survey().leaks) == 1
