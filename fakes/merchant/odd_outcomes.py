"""Answers that nobody expects of a token endpoint, each of which HTTP or JSON lets somebody send."""

from __future__ import annotations

import json
import zlib
from functools import cache
from typing import Any

from starlette.responses import Response

from gateproof.fakes.merchant.answers import NO_STORE, json_answer
from gateproof.fakes.merchant.outcome import Call, outcome
from gateproof.fakes.odd_responses import SlowBlanks, Truncated, WithPrefix

DRIP_S = 30.0
LONG_OCTETS = 10 * 1024 * 1024
BOMB_PIECES = 64
PIECE = b" " * 1024 * 1024
# A header of a name that nobody else uses, for whoever copies a member of the error into a head.
INJECTED = "x-injected-by-merchant"


@outcome(optional="seconds")
async def drip(call: Call) -> Response:
    """Nothing was done; blanks come one at a time, and in the end the connection is gone."""
    return SlowBlanks(call.answer.seconds or DRIP_S, content_type=call.shape.json_type)


@outcome()
async def truncated(call: Call) -> Response:
    """Nothing was done; the body ends before the length that was announced for it."""
    return Truncated(b'{"access_token": "', announced=2048, content_type=call.shape.json_type)


@outcome()
async def gzip_bomb(call: Call) -> Response:
    """Nothing was done; a small compressed body, that nobody asked to be compressed, is a large one."""
    headers = {"content-type": call.shape.json_type, "content-encoding": "gzip", **NO_STORE}
    return Response(_bomb(), headers=headers)


@outcome()
async def long_body(call: Call) -> Response:
    """Nothing was done; ten megabytes of blanks come in front of an empty object."""
    return Response(b" " * LONG_OCTETS + b"{}", headers={"content-type": call.shape.json_type, **NO_STORE})


@outcome(required="location")
async def redirect(call: Call) -> Response:
    """Nothing was done; the caller is to ask somewhere else, with the same method and body."""
    return Response(status_code=307, headers={"location": call.answer.location or "", **NO_STORE})


@outcome()
async def early_hints(call: Call) -> Response:
    """The grant is carried out; its answer comes behind two that are no final ones."""
    heads = (
        "HTTP/1.1 103 Early Hints",
        "link: </style.css>; rel=preload",
        "",
        "HTTP/1.1 102 Processing",
        "",
        "",
    )
    return WithPrefix("\r\n".join(heads).encode(), call.carry_out(False))


@outcome()
async def two_lengths(call: Call) -> Response:
    """Nothing was done; the answer has two lengths, and they differ."""
    body = b'{"access_token": "none", "token_type": "Bearer", "expires_in": 60}'
    answer = Response(body, headers={"content-type": call.shape.json_type, **NO_STORE})
    answer.raw_headers.append((b"content-length", str(len(body) + 40).encode()))
    return answer


@outcome()
async def header_injection(call: Call) -> Response:
    """Nothing was done; the members of the error hold line breaks, and headers behind them."""
    text = f"no\r\n{INJECTED}: yes\r\nset-cookie: {INJECTED}=yes\r\n\r\n<h1>no</h1>"
    members = {"error": f"invalid_request{text}", "error_description": text, "error_uri": text}
    return json_answer(call.shape, members, status=400, headers=NO_STORE)


@outcome(required="lifetime")
async def odd_lifetime(call: Call) -> Response:
    """The grant is carried out; how long the token lives is left out, or said in an odd way."""
    odd: dict[str, Any] = {"zero": 0, "text": "3600", "negative": -60}

    def change(members: dict[str, Any]) -> dict[str, Any]:
        told = {"expires_in": odd[call.answer.lifetime]} if call.answer.lifetime in odd else {}
        return {name: value for name, value in members.items() if name != "expires_in"} | told

    return _changed(call, change)


@outcome()
async def no_refresh_token(call: Call) -> Response:
    """The grant is carried out; its answer has no refresh token in it."""
    return _changed(call, lambda members: {k: v for k, v in members.items() if k != "refresh_token"})


@outcome(optional="status")
async def echo(call: Call) -> Response:
    """The grant is carried out; the error that is answered quotes what was sent and what was issued."""
    issued = json.loads(bytes(call.carry_out(False).body))
    members = {
        "error": "invalid_request" if call.answer.status == 400 else "server_error",
        "error_description": f"the request with {call.sent} could not be handled",
        "debug": issued,
    }
    return json_answer(call.shape, members, status=call.answer.status or 500, headers=NO_STORE)


def _changed(call: Call, change: Any) -> Response:
    answer = call.carry_out(False)
    if answer.status_code != 200:
        return answer
    return json_answer(call.shape, change(json.loads(bytes(answer.body))), headers=NO_STORE)


@cache
def _bomb() -> bytes:
    """64 MB of blanks in gzip: one piece is compressed and repeated, for all of them would take a second."""
    deflate = zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS)
    piece = deflate.compress(PIECE) + deflate.flush(zlib.Z_FULL_FLUSH)
    checksum = 0
    for _ in range(BOMB_PIECES):
        checksum = zlib.crc32(PIECE, checksum)
    size = BOMB_PIECES * len(PIECE)
    head = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\xff"
    tail = checksum.to_bytes(4, "little") + size.to_bytes(4, "little")
    return head + piece * BOMB_PIECES + deflate.flush() + tail
