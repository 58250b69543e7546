"""What was received is searched for what its receiver was not to know, and did not say itself."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path

import pytest

from conformance.run.authority import Authority
from conformance.run.embedded import Embedded, embedded_gateway
from conformance.run.received import Received
from conformance.wire.exchange import Answer, Exchange, Request

CLIENT, SECRET = "proxy_17a", "Zx8kQ2mW7vLr5TnB3yHd"


@pytest.fixture
def base_url_and_received(tmp_path: Path) -> tuple[str, Received]:
    with ExitStack() as stack:
        target = embedded_gateway(Embedded(), Authority(tmp_path), tmp_path, stack)
    received = Received(target, None)
    received.meet_client(CLIENT, SECRET)
    return target.base_url, received


def page(url: str, text: str) -> Exchange:
    return Exchange(
        step="browser", request=Request(method="GET", url=url), answer=Answer(status=200, body=text.encode())
    )


def test_proxy_client_id_is_no_news_to_a_side_that_was_told_it(
    base_url_and_received: tuple[str, Received],
) -> None:
    base_url, received = base_url_and_received
    later = page(f"{base_url}/error", f"<p>{CLIENT} is no agent</p>")
    received.begin("a check that asks for a code as the Proxy client")
    received.note(page(f"{base_url}/auth?client_id={CLIENT}", ""))
    assert received.leaks_of([later], "proxy_client_id") == []
    received.begin("a check that does not")
    assert [leak.kind for leak in received.leaks_of([later], "proxy_client_id")] == ["proxy_client_id"]


def test_proxy_client_secret_is_a_leak_whoever_was_told_it(
    base_url_and_received: tuple[str, Received],
) -> None:
    base_url, received = base_url_and_received
    received.begin("a check that sends the secret where it does not belong")
    received.note(page(f"{base_url}/auth?client_id={SECRET}", ""))
    assert received.leaks_of([page(base_url, SECRET)], "proxy_client_secret")


def test_id_that_is_part_of_a_name_comes_with_the_name(base_url_and_received: tuple[str, Received]) -> None:
    base_url, received = base_url_and_received
    received.meet_names([f"https://api.merchant.example/{CLIENT}"])
    received.begin("any check")
    shown = page(base_url, f"https://api.merchant.example/{CLIENT}")
    assert received.leaks_of([shown], "proxy_client_id") == []


def test_secret_that_is_a_word_is_not_counted_among_those_looked_for(
    base_url_and_received: tuple[str, Received],
) -> None:
    _, received = base_url_and_received
    assert received.minted("proxy_client_secret") == 1
    received.meet_client("proxy_18b", "password")
    assert received.minted("proxy_client_secret") == 1
