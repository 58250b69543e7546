"""What was received is searched for what its receiver was not to know, and did not say itself."""

from __future__ import annotations

import secrets
from contextlib import ExitStack
from pathlib import Path

import pytest

from gateproof.conformance.kit.authority import Authority
from gateproof.conformance.kit.gateway.received import Received
from gateproof.conformance.run.context.embedded import Embedded, embedded_gateway
from gateproof.conformance.wire.exchange import Answer, Exchange, Request
from gateproof.fakes.merchant.records import Kind, MintedToken

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


class Merchant:
    """Mints access tokens, and remembers the last hundred."""

    def __init__(self) -> None:
        self.minted: list[MintedToken] = []

    def mint(self, number: int) -> list[str]:
        for _ in range(number):
            self.minted.append(
                MintedToken(
                    ordinal=len(self.minted) + 1,
                    kind="access_token",
                    form="opaque",
                    value=secrets.token_urlsafe(24),
                    client_id="c",
                    login="l",
                    actor=(),
                    family=1,
                    issued_at=0.0,
                    expires_at=None,
                )
            )
        return [token.value for token in self.minted[-number:]]

    def tokens(self, kind: Kind | None = None, after: int = 0) -> list[MintedToken]:
        assert kind is None
        assert after >= self.dropped()["tokens"], "what was asked for is forgotten"
        return self.minted[after:]

    def dropped(self) -> dict[str, int]:
        return {"tokens": max(0, len(self.minted) - 100)}


def test_what_a_merchant_mints_is_looked_for_until_as_many_were_minted_since(tmp_path: Path) -> None:
    """All that was received before is searched for a token before it is let go."""
    with ExitStack() as stack:
        target = embedded_gateway(Embedded(), Authority(tmp_path), tmp_path, stack)
    merchant = Merchant()
    merchant.mint(150)
    received = Received(target, merchant, most=10)
    received.begin("a check that shows tokens")
    first = merchant.mint(5)[0]
    received.note(page(target.base_url, f"<p>{first}</p>"))
    assert received.minted("merchant_access_token") == 105

    between = merchant.mint(10)[0]
    assert received.minted("merchant_access_token") == 115
    assert received.leaks_of([page(target.base_url, between)], "merchant_access_token")
    merchant.mint(20)
    assert received.minted("merchant_access_token") == 135
    assert received.leaks_of([page(target.base_url, merchant.minted[-1].value)], "merchant_access_token")
    merchant.mint(20)
    assert received.minted("merchant_access_token") == 155
    assert not received.leaks_of([page(target.base_url, first)], "merchant_access_token")

    survey = received.survey()
    assert [leak.kind for leak in survey.leaks] == ["merchant_access_token"]
    assert survey.known["merchant_access_token"] == 155
