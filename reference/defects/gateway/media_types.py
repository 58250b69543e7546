"""Gateways whose answers are not JSON, or have another media type."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gateproof.reference.defects.gateway.row import defect
from gateproof.reference.deviations.altered_answers import Answered, Asked, altering_answers
from gateproof.reference.gateway.gateway import Gateway

_REDEMPTION, _REGISTRATION = "/api/credentials/token", "/api/register"
_DISCOVERY = "/.well-known/openid-configuration"
_PAGE = b"<!doctype html><title>Error</title><h1>Error</h1>"


def labelled(media_type: str | None) -> Any:
    """Changes the media type of the discovery document."""

    def change(asked: Asked, answered: Answered, _gateway: Gateway) -> Answered:
        if not asked.path.endswith(_DISCOVERY):
            return answered
        headers = tuple(pair for pair in answered.headers if pair[0] != "content-type")
        label = () if media_type is None else (("content-type", media_type),)
        return Answered(status=answered.status, headers=(*headers, *label), body=answered.body)

    return altering_answers(change)


def written(path: str, statuses: tuple[int, ...], write: Callable[[bytes], bytes]) -> Any:
    """Changes the body of answers of this endpoint with these statuses."""

    def change(asked: Asked, answered: Answered, _gateway: Gateway) -> Answered:
        if not asked.path.endswith(path) or answered.status not in statuses:
            return answered
        return Answered(status=answered.status, headers=answered.headers, body=write(answered.body))

    return altering_answers(change)


DEFECTS = (
    defect(
        "discovery-as-html (DISC-08): The discovery document has the media type text/html.",
        around=labelled("text/html; charset=utf-8"),
    ),
    defect(
        "discovery-as-plain-text (DISC-08): The discovery document has the media type text/plain.",
        around=labelled("text/plain"),
    ),
    defect(
        "discovery-without-a-label (DISC-08): The discovery document has no Content-Type header.",
        around=labelled(None),
    ),
    defect(
        "unknown-resource-in-plain-text (REDEEM-17): The body of a 404 of redemption is plain text.",
        around=written(_REDEMPTION, (404,), lambda _: b"Not Found"),
    ),
    defect(
        "missing-header-in-html (REDEEM-17): The body of a 400 of redemption is an HTML page.",
        around=written(_REDEMPTION, (400,), lambda _: _PAGE),
    ),
    defect(
        "reauthentication-in-plain-text (REDEEM-17): The body of a 410 of redemption is plain text.",
        around=written(_REDEMPTION, (410,), lambda _: b"reauthentication_required"),
    ),
    defect(
        "refused-registration-in-html (REDEEM-17): The body of a refused registration is an HTML page.",
        around=written(_REGISTRATION, (400,), lambda _: _PAGE),
    ),
    defect(
        "refusals-cut-short (REDEEM-17): The JSON of a 401 of redemption lacks its closing brace.",
        around=written(_REDEMPTION, (401,), lambda body: body[:-1]),
    ),
)
