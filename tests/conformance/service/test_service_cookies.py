"""An agent that keeps its cookies sends back what the service has set, and nothing else."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from gateproof.conformance.kit.service.cookies import CookieKeeper
from gateproof.conformance.kit.service.service import Service
from gateproof.conformance.targets.model import Operation
from gateproof.conformance.wire.exchange import Answer, Exchange, Headers, Request
from gateproof.conformance.wire.keyring import Keyring


def keeper(said: Headers) -> tuple[CookieKeeper, list[Request]]:
    seen: list[Request] = []

    def send(step: str, request: Request) -> Exchange:
        seen.append(request)
        return Exchange(step=step, request=request, answer=Answer(status=200, headers=said))

    wire: Any = SimpleNamespace(send=send)
    service = Service(
        service_url="https://orders.example",
        metadata_url="https://orders.example/metadata",
        operation=Operation(kind="http", path="/orders"),
        wire=wire,
        patient=wire,
        keyring=Keyring(),
    )
    return CookieKeeper(service=service), seen


def test_cookies_come_without_a_token_later() -> None:
    agent, seen = keeper((("set-cookie", "sid=1; Path=/; HttpOnly"), ("Set-Cookie", "theme=dark")))

    agent.serve("t")
    agent.operate()

    first, second = (dict(request.headers) for request in seen)
    assert (first.get("Authorization"), first.get("Cookie")) == ("Bearer t", None)
    assert (second.get("Authorization"), second.get("Cookie")) == (None, "sid=1; theme=dark")
    assert agent.has_cookies()


def test_cookie_that_goes_elsewhere_is_none() -> None:
    agent, _ = keeper((("Set-Cookie", "sid=1; Path=/admin"), ("Set-Cookie", "old=1; Max-Age=0")))

    agent.serve("t")

    assert not agent.has_cookies()
