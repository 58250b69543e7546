"""Finds texts that look like credentials, without knowing the secrets of the run."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

from gateproof.reports import redacted_parts
from gateproof.reports.chain import texts
from gateproof.reports.exchanges import Shown
from gateproof.reports.letter_case import word_in_any_case
from gateproof.reports.record import Record
from gateproof.reports.redaction import BASIC, Redactor, is_a_pair

# The header of a JWT is JSON; these are the base64url forms of an opening brace.
# What may not be before it is looked at second, so that a search can jump to the first letter.
_JWT = re.compile(r"e[yw](?<![\w-]e[yw])[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*")
_PRIVATE_KEY = re.compile(r"-----BEGIN [A-Z0-9 ]*PRIVATE KEY")
_PRIVATE_JWK = re.compile(r'"d\\?"\s*:\s*\\?"[A-Za-z0-9_-]{40,}')
_BEARER = re.compile(rf"{word_in_any_case('bearer')}\s+([\w\-.~+/]{{16,}})")


def credential_kind(text: str) -> str | None:
    """The kind of credential that a text contains; None if it contains none."""
    if _PRIVATE_KEY.search(text):
        return "private key"
    if _PRIVATE_JWK.search(text):
        return "private key in a JWK"
    if _JWT.search(text):
        return "JWT"
    if any(is_a_pair(found[2]) for found in BASIC.finditer(text)):
        return "basic credential"
    if any(_masked(found[1], ()) for found in _BEARER.finditer(text)):
        return "bearer token"
    return None


def unmasked(record: Record) -> Iterator[tuple[int, str]]:
    """Lines with a text that the redactor would have masked, and where it is."""
    always = record.header.public
    shown = {number: line.public for number, line in record.checks.items()}
    # A check has one line for each execution: on two workers with their own gateways, each has its own names.
    named = {n + 1: line.public for line in record.checks.values() for n in line.exchanges}
    for number, check in record.checks.items():
        found = {
            "message": check.message,
            "expected": check.expected,
            "got": check.got,
            "observations": check.observations,
        }
        yield from _places(number, found, (*always, *shown[number]))
    for number, exchange in record.exchanges.items():
        redactor = Redactor(secrets={}, public=(*always, *named.get(number, ())))
        yield from ((number, place) for place in _unhidden(exchange.shown, redactor))


def _unhidden(shown: Shown, redactor: Redactor) -> Iterator[str]:
    """The parts of an exchange that the redactor would change."""
    if redacted_parts.url(shown.url, redactor) != shown.url:
        yield "url"
    for side, headers in (("request", shown.request_headers), ("answer", shown.answer_headers)):
        for name, value in headers:
            if redactor.text(name) != name or redacted_parts.header(name, value, redactor) != value:
                yield f"{side} header"
    for side, body in (("request", shown.request_body), ("answer", shown.answer_body)):
        if redacted_parts.body(body, redactor) != body:
            yield f"{side} body"
    if redactor.text(shown.failure) != shown.failure:
        yield "failure"


def _places(number: int, said: object, public: Collection[str]) -> Iterator[tuple[int, str]]:
    for place, text in texts(said):
        if _masked(text, public):
            yield number, place


def _masked(text: str, public: Collection[str]) -> bool:
    return Redactor(secrets={}, public=public).text(text) != text
