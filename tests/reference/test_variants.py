"""Variants that are about connections and keys do on the wire what they say."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest
from starlette.responses import JSONResponse
from starlette.types import Receive, Scope, Send
from uvicorn.server import ServerState

from gateproof.reference.gateway.keys import signed
from gateproof.reference.gateway.policies import Policies
from gateproof.reference.ids import RandomIds
from gateproof.reference.serving import Origin
from gateproof.reference.variants.gateway import VARIANTS
from gateproof.reference.variants.variant import choices_of

GET = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"
CHUNKED = b"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n"
ANSWER = {"error": "x" * 200}


async def answering(scope: Scope, receive: Receive, send: Send) -> None:
    await JSONResponse(ANSWER, headers={"cache-control": "no-store"})(scope, receive, send)


def asked(name: str, *requests: bytes) -> bytes:
    """What comes over one connection until the server closes it, or has answered the last request."""

    async def ask() -> bytes:
        listening = replace(Policies(), **VARIANTS[name].choices).listen
        listener = await listening(Origin(app=answering, url="http://127.0.0.1:0"), None, ServerState())
        reader, writer = await asyncio.open_connection("127.0.0.1", listener.port)
        try:
            return await asyncio.wait_for(_exchange(reader, writer, requests), 10)
        finally:
            writer.close()
            await writer.wait_closed()
            listener.close()

    return asyncio.run(ask())


async def _exchange(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, requests: tuple[bytes, ...]
) -> bytes:
    came = b""
    for request in requests:
        writer.write(request)
        answers = came.count(b"HTTP/1.") + 1
        while came.count(b"HTTP/1.") < answers or b'x"}' not in came:
            octets = await reader.read(65536)
            if not octets:
                return came
            came += octets
    return came


def test_http_1_0_closes_after_one_answer_of_its_version() -> None:
    came = asked("http-1.0", GET, GET)

    assert came.startswith(b"HTTP/1.0 200 OK\r\n")
    assert came.count(b"HTTP/1.") == 1
    assert b"chunked" not in came


def test_http_1_0_takes_no_chunks() -> None:
    assert asked("http-1.0", CHUNKED).startswith(b"HTTP/1.0 400 ")


def test_closed_connections_have_one_answer() -> None:
    came = asked("connections-closed", GET, GET)

    assert came.count(b"HTTP/1.1 200 OK") == 1
    assert b"connection: close\r\n" in came


def test_chunks_are_small() -> None:
    came = asked("bodies-in-chunks", GET)

    assert b"transfer-encoding: chunked\r\n" in came
    assert b"content-length" not in came
    assert came.count(b"\r\n61\r\n") == 2


@pytest.mark.parametrize(
    ("name", "written"),
    [
        ("headers-in-title-case", b"\r\nCache-Control: no-store\r\n"),
        ("headers-in-capitals", b"\r\nCACHE-CONTROL: no-store\r\n"),
    ],
)
def test_header_names_have_another_case(name: str, written: bytes) -> None:
    came = asked(name, GET, GET)

    assert came.count(written) == 2
    assert b"cache-control" not in came


@pytest.mark.parametrize(
    ("name", "algorithm", "kty"),
    [
        ("tokens-under-rs256", "RS256", "RSA"),
        ("tokens-under-ps256", "PS256", "RSA"),
        ("tokens-under-eddsa", "EdDSA", "OKP"),
    ],
)
def test_tokens_are_signed_with_the_algorithm_that_the_key_is_published_for(
    name: str, algorithm: str, kty: str
) -> None:
    policies = replace(Policies(), **VARIANTS[name].choices)
    key = policies.new_core_key(RandomIds())
    claims = {"iss": "https://core.example", "exp": 2_000_000_000}
    token = signed(key, claims, "at+jwt")

    assert policies.core_jwk(key)["kty"] == kty
    assert policies.core_jwk(key)["alg"] == algorithm
    assert policies.verified_claims(token, [key], "https://core.example", 0) == claims
    other = replace(key, algorithm="ES256" if kty == "OKP" else "RS384")
    assert policies.verified_claims(token, [other], "https://core.example", 0) is None


def test_every_variant_decides_something_that_there_is_to_decide() -> None:
    for variant in VARIANTS.values():
        assert replace(Policies(), **choices_of([variant])) != Policies(), variant.name
