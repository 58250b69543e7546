"""The outcomes of token requests, one function each; unusual answers are in odd_outcomes.py.

An outcome changes the merchant's state before its answer fails: if the merchant rotates a refresh token and
then fails, the token is rotated. To add an outcome, add a function with `@outcome`.
"""

from __future__ import annotations

import time
from email.utils import formatdate

from starlette.responses import Response

from gateproof.fakes.merchant import odd_outcomes as _  # noqa: F401 - each registers itself
from gateproof.fakes.merchant.answers import NO_STORE, json_answer, refusal_answer
from gateproof.fakes.merchant.outcome import OUTCOMES, PARAMETERS, Call, outcome
from gateproof.fakes.merchant.refusal import Refused
from gateproof.fakes.serving import Reset

__all__ = ["OUTCOMES", "PARAMETERS", "Call"]

HANG_S = 30.0
SLOW_S = 2.0


@outcome()
async def ok(call: Call) -> Response:
    """The grant is carried out, with an honest answer."""
    return call.carry_out(False)


@outcome()
async def reject(call: Call) -> Response:
    """The assertion or refresh token is rejected permanently; a refresh token never becomes valid again."""
    call.withdraw()
    return refusal_answer(call.shape, Refused("invalid_grant", "the merchant does not accept this grant"))


@outcome(optional="status")
async def turn_away(call: Call) -> Response:
    """The client is refused as unknown or unauthorized."""
    status = call.answer.status or 401
    error = "invalid_client" if status == 401 else "access_denied"
    return refusal_answer(call.shape, Refused(error, "the merchant does not deal with you", status=status))


@outcome(optional="status retry_after_s as_date")
async def server_error(call: Call) -> Response:
    """No grant; the answer is a server error."""
    return _broken(call)


@outcome(optional="retry_after_s")
async def too_many(call: Call) -> Response:
    """No grant; 429 with Retry-After."""
    return Response(
        "slow down",
        429,
        headers={"retry-after": _retry_after(call), **NO_STORE},
        media_type="text/plain",
    )


@outcome(optional="seconds")
async def hang(call: Call) -> Response:
    """No grant and no answer; after a while the connection is reset."""
    await call.wait(call.answer.seconds or HANG_S)
    return Reset()


@outcome(required="gate", optional="parties seconds")
async def hold(call: Call) -> Response:
    """The call waits at a gate, then is answered honestly."""
    opened = call.gates.arrive(call.answer.gate or "", call.answer.parties)
    await call.wait(call.answer.seconds or HANG_S, opened)
    return call.carry_out(False)


@outcome(required="gate", optional="parties seconds")
async def hold_then_reject(call: Call) -> Response:
    """The call waits at a gate, then is rejected permanently."""
    opened = call.gates.arrive(call.answer.gate or "", call.answer.parties)
    await call.wait(call.answer.seconds or HANG_S, opened)
    return await reject(call)


@outcome(optional="seconds")
async def slow(call: Call) -> Response:
    """The honest answer, after a delay."""
    await call.wait(call.answer.seconds or SLOW_S)
    return call.carry_out(False)


@outcome()
async def html(_call: Call) -> Response:
    """No grant; 200 with an HTML page."""
    return Response("<!doctype html><title>Maintenance</title><h1>Be right back</h1>", media_type="text/html")


@outcome()
async def invalid_json(call: Call) -> Response:
    """No grant; truncated JSON."""
    return Response(b'{"access_token": "', headers={"content-type": call.shape.json_type, **NO_STORE})


@outcome()
async def wrong_shape(call: Call) -> Response:
    """No grant; valid JSON in which every member has the wrong type."""
    members = {
        "access_token": ["none"],
        "token_type": 7,
        "expires_in": {"seconds": "many"},
        "refresh_token": None,
    }
    return json_answer(call.shape, members, headers=NO_STORE)


@outcome()
async def wrong_content_type(call: Call) -> Response:
    """The grant is carried out; its answer has the media type text/plain."""
    answer = call.carry_out(False)
    answer.headers["content-type"] = "text/plain"
    return answer


@outcome()
async def reset(_call: Call) -> Response:
    """No grant; the connection is reset."""
    return Reset()


@outcome(optional="status retry_after_s")
async def rotate_then_500(call: Call) -> Response:
    """The grant is carried out, with rotation of a refresh token; the answer is a server error."""
    call.carry_out(True)
    return _broken(call)


@outcome()
async def rotate_then_reset(call: Call) -> Response:
    """The grant is carried out, with rotation of a refresh token; the connection is reset."""
    call.carry_out(True)
    return Reset()


@outcome(optional="seconds")
async def accept_then_hang(call: Call) -> Response:
    """The grant is carried out; there is no answer."""
    call.carry_out(False)
    await call.wait(call.answer.seconds or HANG_S)
    return Reset()


def _broken(call: Call) -> Response:
    headers = {"retry-after": _retry_after(call), **NO_STORE}
    return Response(
        "the server is at fault", call.answer.status or 500, headers=headers, media_type="text/plain"
    )


def _retry_after(call: Call) -> str:
    """Retry-After, as seconds or as a date."""
    seconds = 1 if call.answer.retry_after_s is None else call.answer.retry_after_s
    return formatdate(time.time() + seconds, usegmt=True) if call.answer.as_date else str(seconds)
