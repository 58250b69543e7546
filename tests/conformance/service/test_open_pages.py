"""A service's open pages are taken as they come: none is waited for, and none hides another."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from gateproof.conformance.checks.service import secret_pages
from gateproof.conformance.kit.service.received import MERCHANT_TOKEN, ServiceReceived
from gateproof.conformance.kit.service.world import ServiceState
from gateproof.conformance.suite.claims import Unmet, Violated, tallying
from gateproof.conformance.wire.exchange import Answer, Exchange, Request

URL = "https://127.0.0.1:1"
TOKEN = "mt_Zo8Jq2vX0aB7kLm3Rt5YwN9cD1eF4gH6"
ORDERS = [{"id": "order-1", "item": "lamp"}]
ELSEWHERE = Answer(status=404)
LEAKING = Answer(status=200, body=f'{{"last": "{TOKEN}"}}'.encode())


class Pages:
    """A service by its pages: what has no page is not found, and None never answers."""

    def __init__(self, others: Answer | None = ELSEWHERE, /, **pages: Answer | None) -> None:
        self.others = others
        self.pages = {f"/{name}": answer for name, answer in pages.items()}
        self.asked: list[str] = []
        gateway: Any = SimpleNamespace(
            access_token=lambda _user: "token",
            orders_of=lambda _user: ORDERS,
            merchant_tokens={TOKEN: "alice"},
            proxy_tokens=[],
            setup=SimpleNamespace(proxy_client_secret="a-secret-of-some-length-1", proxy_client_id="proxy_1"),
        )
        world: Any = SimpleNamespace(gateway=gateway, service_state=ServiceState())
        self.world = world
        self.received = ServiceReceived(world)
        self.service: Any = SimpleNamespace(
            service_url=URL,
            operation=SimpleNamespace(path="/orders"),
            serve=lambda _token: self.exchange("operation", Answer(status=200, body=b'{"id": "order-1"}')),
            wire=SimpleNamespace(send_once=self.send_once),
        )

    def exchange(self, step: str, answer: Answer | None, url: str = URL) -> Exchange:
        return Exchange(step=step, request=Request(method="GET", url=url), answer=answer)

    def send_once(self, step: str, request: Request) -> Exchange:
        path = request.url.removeprefix(URL)
        self.asked.append(path)
        return self.exchange(step, self.pages.get(path, self.others), request.url)

    def look(self) -> None:
        with tallying():
            secret_pages.merchant_token_is_on_no_open_page(self.service, self.world, self.received)


def test_pages_without_a_credential_are_nobodys_business() -> None:
    busy = Answer(status=503, headers=(("Retry-After", "120"),))
    pages = Pages(health=busy, metrics=Answer(status=429), logs=None)

    pages.look()

    assert len(pages.asked) == len(secret_pages.PAGES)


def test_pages_are_asked_for_once() -> None:
    pages = Pages()

    pages.look()
    pages.look()

    assert len(pages.asked) == len(secret_pages.PAGES)


@pytest.mark.parametrize(("silent", "leaking"), [("", "debug"), ("logs", "tokens")])
def test_page_behind_one_that_never_answers_is_seen(silent: str, leaking: str) -> None:
    pages = Pages(**{silent: None, leaking: LEAKING})

    with pytest.raises(Violated) as seen:
        pages.look()

    assert f"(page /{leaking})" in seen.value.got


def test_service_that_answers_for_none_of_them_has_not_passed() -> None:
    pages = Pages(None)

    with pytest.raises(Unmet):
        pages.look()

    assert len(pages.asked) == secret_pages.MOST_SILENT
    assert MERCHANT_TOKEN in pages.received.secrets()
