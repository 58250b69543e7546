"""Unusual answers of a token endpoint that are possible in HTTP or JSON."""

from __future__ import annotations

import json
import zlib
from functools import cache
from typing import Any

from starlette.responses import Response

from gateproof.fakes.merchant.answers import NO_STORE, json_answer
from gateproof.fakes.merchant.outcome import Call, outcome
from gateproof.fakes.odd_responses import SlowSpaces, Truncated, WithPrefix

DRIP_S = 30.0
LONG_OCTETS = 10 * 1024 * 1024
BOMB_PIECES = 64
PIECE = b" " * 1024 * 1024
# A header that appears only if a gateway copies a member of the error into its own header section.
INJECTED = "x-injected-by-merchant"


@outcome(optional="seconds")
async def drip(call: Call) -> Response:
    """No grant; spaces are sent one by one, then the connection is reset."""
    return SlowSpaces(call.answer.seconds or DRIP_S, content_type=call.shape.json_type)


@outcome()
async def truncated(call: Call) -> Response:
    """No grant; the body is shorter than its announced length."""
    return Truncated(b'{"access_token": "', announced=2048, content_type=call.shape.json_type)


@outcome()
async def gzip_bomb(call: Call) -> Response:
    """No grant; a small gzip body, sent without being requested, expands to a large one."""
    headers = {"content-type": call.shape.json_type, "content-encoding": "gzip", **NO_STORE}
    return Response(_bomb(), headers=headers)


@outcome()
async def long_body(call: Call) -> Response:
    """No grant; ten megabytes of spaces precede an empty object."""
    return Response(b" " * LONG_OCTETS + b"{}", headers={"content-type": call.shape.json_type, **NO_STORE})


@outcome()
async def no_token(call: Call) -> Response:
    """No grant; 200 with an answer in which the tokens are missing."""
    return json_answer(call.shape, {"token_type": "Bearer", "expires_in": 3600}, headers=NO_STORE)


@outcome()
async def refusal_with_200(call: Call) -> Response:
    """No grant; the error of a refusal with the status 200."""
    return json_answer(call.shape, {"error": "invalid_grant"}, headers=NO_STORE)


@outcome(required="location")
async def redirect(call: Call) -> Response:
    """No grant; a redirect that keeps method and body."""
    return Response(status_code=307, headers={"location": call.answer.location or "", **NO_STORE})


@outcome()
async def early_hints(call: Call) -> Response:
    """The grant is carried out; two 1xx answers precede the final one."""
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
    """No grant; the answer has two different Content-Length headers."""
    body = b'{"access_token": "none", "token_type": "Bearer", "expires_in": 60}'
    answer = Response(body, headers={"content-type": call.shape.json_type, **NO_STORE})
    answer.raw_headers.append((b"content-length", str(len(body) + 40).encode()))
    return answer


@outcome()
async def header_injection(call: Call) -> Response:
    """No grant; the members of the error contain line breaks followed by headers."""
    text = f"no\r\n{INJECTED}: yes\r\nset-cookie: {INJECTED}=yes\r\n\r\n<h1>no</h1>"
    members = {"error": f"invalid_request{text}", "error_description": text, "error_uri": text}
    return json_answer(call.shape, members, status=400, headers=NO_STORE)


@outcome(required="lifetime")
async def odd_lifetime(call: Call) -> Response:
    """The grant is carried out; expires_in is missing or has an unusual value."""
    odd: dict[str, Any] = {"zero": 0, "text": "3600", "negative": -60, "endless": 10**18}

    def change(members: dict[str, Any]) -> dict[str, Any]:
        changed = {"expires_in": odd[call.answer.lifetime]} if call.answer.lifetime in odd else {}
        return {name: value for name, value in members.items() if name != "expires_in"} | changed

    return _changed(call, change)


@outcome()
async def no_refresh_token(call: Call) -> Response:
    """The grant is carried out; its answer has no refresh token."""
    return _changed(call, lambda members: {k: v for k, v in members.items() if k != "refresh_token"})


@outcome(optional="status")
async def echo(call: Call) -> Response:
    """The grant is carried out; the answer is an error that contains what was sent and what was issued."""
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
    """64 MB of spaces in gzip. One piece is compressed and repeated; compressing all takes a second."""
    deflate = zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS)
    piece = deflate.compress(PIECE) + deflate.flush(zlib.Z_FULL_FLUSH)
    checksum = 0
    for _ in range(BOMB_PIECES):
        checksum = zlib.crc32(PIECE, checksum)
    size = BOMB_PIECES * len(PIECE)
    head = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\xff"
    tail = checksum.to_bytes(4, "little") + size.to_bytes(4, "little")
    return head + piece * BOMB_PIECES + deflate.flush() + tail
