"""What can become of a token request: one function an outcome; odd answers have a module of their own.

Whatever an outcome changes, it changes before the answer fails: a merchant that rotates a refresh token and
then breaks has rotated it all the same. A new outcome is one more function with `@outcome`.
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
    """The grant is carried out and honestly answered."""
    return call.carry_out(False)


@outcome()
async def reject(call: Call) -> Response:
    """The assertion or refresh token is turned down for good."""
    return refusal_answer(call.shape, Refused("invalid_grant", "the merchant does not accept this grant"))


@outcome(optional="status")
async def turn_away(call: Call) -> Response:
    """The caller itself is not known here, or may not do this."""
    status = call.answer.status or 401
    error = "invalid_client" if status == 401 else "access_denied"
    return refusal_answer(call.shape, Refused(error, "the merchant does not deal with you", status=status))


@outcome(optional="status retry_after_s as_date")
async def server_error(call: Call) -> Response:
    """Nothing was done, and the server says that it is at fault."""
    return _broken(call)


@outcome(optional="retry_after_s")
async def too_many(call: Call) -> Response:
    """Nothing was done, and the caller is asked to slow down."""
    return Response(
        "slow down",
        429,
        headers={"retry-after": _retry_after(call), **NO_STORE},
        media_type="text/plain",
    )


@outcome(optional="seconds")
async def hang(call: Call) -> Response:
    """Nothing was done, nothing is said, and in the end the connection is gone."""
    await call.wait(call.answer.seconds or HANG_S)
    return Reset()


@outcome(required="gate", optional="parties seconds")
async def hold(call: Call) -> Response:
    """The call waits at a gate, then goes on as if nothing had been."""
    opened = call.gates.arrive(call.answer.gate or "", call.answer.parties)
    await call.wait(call.answer.seconds or HANG_S, opened)
    return call.carry_out(False)


@outcome(optional="seconds")
async def slow(call: Call) -> Response:
    """The honest answer comes late."""
    await call.wait(call.answer.seconds or SLOW_S)
    return call.carry_out(False)


@outcome()
async def html(_call: Call) -> Response:
    """Nothing was done; a page meant for people comes with a 200."""
    return Response("<!doctype html><title>Maintenance</title><h1>Be right back</h1>", media_type="text/html")


@outcome()
async def invalid_json(call: Call) -> Response:
    """Nothing was done; what claims to be JSON breaks off."""
    return Response(b'{"access_token": "', headers={"content-type": call.shape.json_type, **NO_STORE})


@outcome()
async def wrong_shape(call: Call) -> Response:
    """Nothing was done; the JSON is whole and every member has the wrong type."""
    members = {
        "access_token": ["none"],
        "token_type": 7,
        "expires_in": {"seconds": "many"},
        "refresh_token": None,
    }
    return json_answer(call.shape, members, headers=NO_STORE)


@outcome()
async def wrong_content_type(call: Call) -> Response:
    """The grant is carried out; its answer is labelled as plain text."""
    answer = call.carry_out(False)
    answer.headers["content-type"] = "text/plain"
    return answer


@outcome()
async def reset(_call: Call) -> Response:
    """Nothing was done, and the connection is reset."""
    return Reset()


@outcome(optional="status retry_after_s")
async def rotate_then_500(call: Call) -> Response:
    """The grant is carried out, a refresh token rotated, and the answer is a server error."""
    call.carry_out(True)
    return _broken(call)


@outcome()
async def rotate_then_reset(call: Call) -> Response:
    """The grant is carried out, a refresh token rotated, and the connection is reset."""
    call.carry_out(True)
    return Reset()


@outcome(optional="seconds")
async def accept_then_hang(call: Call) -> Response:
    """The grant is carried out, and the answer never comes."""
    call.carry_out(False)
    await call.wait(call.answer.seconds or HANG_S)
    return Reset()


def _broken(call: Call) -> Response:
    headers = {"retry-after": _retry_after(call), **NO_STORE}
    return Response(
        "the server is at fault", call.answer.status or 500, headers=headers, media_type="text/plain"
    )


def _retry_after(call: Call) -> str:
    """When to come again, in one of the two forms that HTTP has for it."""
    seconds = 1 if call.answer.retry_after_s is None else call.answer.retry_after_s
    return formatdate(time.time() + seconds, usegmt=True) if call.answer.as_date else str(seconds)
