"""Odd answers are as odd on the wire as their names say."""

from __future__ import annotations

import asyncio
import gzip
import time
from email.utils import parsedate_to_datetime
from typing import Any
from urllib.parse import urlencode

import pytest

from gateproof.fakes.merchant.application import application
from gateproof.fakes.serving import listen

JWT_BEARER = "urn:ietf:params:oauth:grant-type:jwt-bearer"


def octets_of(world: Any, outcome: Any) -> bytes:
    """Everything that comes over the connection until it ends."""
    world.script(answers=[outcome])
    form = urlencode({"grant_type": JWT_BEARER, "assertion": world.assertion()}).encode()
    path = world.places.token_endpoint.removeprefix("https://merchant.test")
    head = (
        f"POST {path} HTTP/1.1\r\nHost: merchant.test\r\nConnection: close\r\nContent-Length: {len(form)}\r\n"
        "Content-Type: application/x-www-form-urlencoded\r\n\r\n"
    )

    async def ask() -> bytes:
        listener = await listen(
            lambda _netloc: application(world.merchant), host="127.0.0.1", port=0, tls=None
        )
        try:
            host, _, port = listener.netloc.rpartition(":")
            reader, writer = await asyncio.open_connection(host, int(port))
            writer.write(head.encode() + form)
            octets = bytearray()
            try:
                async with asyncio.timeout(20):
                    while piece := await reader.read(1 << 20):
                        octets += piece
            except ConnectionResetError:
                octets += b"[reset]"
            writer.close()
            return bytes(octets)
        finally:
            listener.close()

    answer: bytes = world.run(ask())
    return answer


def body_of(octets: bytes) -> bytes:
    return octets.partition(b"\r\n\r\n")[2]


def test_a_drip_ends_in_a_reset(world: Any) -> None:
    octets = octets_of(world, {"outcome": "drip", "seconds": 0.3})

    assert octets.startswith(b"HTTP/1.1 200 ")
    assert set(body_of(octets).removesuffix(b"[reset]")) == set(b" ")
    assert octets.endswith(b"[reset]")


def test_a_truncated_body_is_shorter_than_announced(world: Any) -> None:
    octets = octets_of(world, "truncated")

    assert b"content-length: 2048" in octets
    assert 0 < len(body_of(octets)) < 2048


def test_two_lengths_differ(world: Any) -> None:
    head = octets_of(world, "two_lengths").partition(b"\r\n\r\n")[0]
    lengths = {line for line in head.split(b"\r\n") if line.startswith(b"content-length:")}

    assert len(lengths) == 2


def test_early_hints_come_before_the_honest_answer(world: Any) -> None:
    octets = octets_of(world, "early_hints")

    assert octets.startswith(b"HTTP/1.1 103 Early Hints\r\n")
    assert octets.count(b"HTTP/1.1 ") == 3
    assert b"access_token" in octets


def test_a_bomb_is_small_and_whole_and_becomes_large(world: Any) -> None:
    octets = octets_of(world, "gzip_bomb")

    assert b"content-encoding: gzip" in octets
    assert len(octets) < 200_000
    assert len(gzip.decompress(body_of(octets))) == 64 * 1024 * 1024


def test_a_long_body_is_ten_megabytes(world: Any) -> None:
    assert len(body_of(octets_of(world, "long_body"))) > 10_000_000


def test_a_redirect_keeps_method_and_body(world: Any) -> None:
    octets = octets_of(world, {"outcome": "redirect", "location": "https://elsewhere.test/token"})

    assert octets.startswith(b"HTTP/1.1 307 ")
    assert b"location: https://elsewhere.test/token" in octets


def answer_of(world: Any, outcome: Any) -> Any:
    world.script(answers=[outcome])
    return world.provision()


@pytest.mark.parametrize(
    ("lifetime", "told"),
    [("missing", None), ("zero", 0), ("text", "3600"), ("negative", -60), ("endless", 10**18)],
)
def test_lifetimes_are_told_oddly(world: Any, lifetime: str, told: Any) -> None:
    answer = answer_of(world, {"outcome": "odd_lifetime", "lifetime": lifetime})

    assert answer.json().get("expires_in") == told
    assert world.orders(answer.json()["access_token"]).status_code == 200


def test_a_refresh_token_is_left_out_and_stays_good(world: Any) -> None:
    token = world.provision().json()["refresh_token"]
    world.script(answers=["no_refresh_token"])

    assert "refresh_token" not in world.refresh(token).json()
    assert world.refresh(token).status_code == 200


@pytest.mark.parametrize(("status", "error"), [(500, "server_error"), (400, "invalid_request")])
def test_an_echo_quotes_what_was_sent_and_what_was_issued(world: Any, status: int, error: str) -> None:
    token = world.provision().json()["refresh_token"]
    world.script(answers=[{"outcome": "echo", "status": status}])
    answer = world.refresh(token)

    assert (answer.status_code, answer.json()["error"]) == (status, error)
    assert token in answer.json()["error_description"]
    assert world.orders(answer.json()["debug"]["access_token"]).status_code == 200


def test_an_error_holds_line_breaks(world: Any) -> None:
    answer = answer_of(world, "header_injection")

    assert answer.status_code == 400
    assert "\r\nset-cookie: " in answer.json()["error"]


def test_an_hour_to_come_again_is_a_date(world: Any) -> None:
    answer = answer_of(
        world, {"outcome": "server_error", "status": 503, "retry_after_s": 60, "as_date": True}
    )

    ahead = parsedate_to_datetime(answer.headers["retry-after"]).timestamp() - time.time()
    assert 0 < ahead <= 61
