"""Exchanges as they may be shown in reports."""

from __future__ import annotations

from gateproof.conformance.wire.exchange import Exchange, Headers
from gateproof.reports import redacted_parts
from gateproof.reports.exchanges import Shown
from gateproof.reports.redaction import Redactor

MAX_BODY = 2000


def show(exchange: Exchange, redactor: Redactor) -> Shown:
    """The exchange with all secrets replaced."""
    request, answer = exchange.request, exchange.answer
    asked, asking = _message(request.headers, request.body, redactor)
    answered, answering = _message(answer.headers, answer.body, redactor) if answer is not None else ((), "")
    return Shown(
        step=exchange.step,
        method=request.method,
        url=redacted_parts.url(request.url, redactor),
        request_headers=asked,
        request_body=asking,
        status=None if answer is None else answer.status,
        answer_headers=answered,
        answer_body=answering,
        failure=exchange.failure or "",
        retries=len(exchange.retries),
        resent=answer is not None and answer.resent,
        at_s=round(exchange.at_s, 4),
        elapsed_s=0.0 if answer is None else round(answer.elapsed_s, 4),
    )


def mention(exchange: Exchange, redactor: Redactor) -> Shown:
    """The exchange without headers and bodies: enough if nothing failed, and a tenth of the size."""
    request, answer = exchange.request, exchange.answer
    return Shown(
        step=exchange.step,
        method=request.method,
        url=redacted_parts.url(request.url, redactor),
        status=None if answer is None else answer.status,
        failure=exchange.failure or "",
        retries=len(exchange.retries),
        resent=answer is not None and answer.resent,
        at_s=round(exchange.at_s, 4),
        elapsed_s=0.0 if answer is None else round(answer.elapsed_s, 4),
    )


def _message(headers: Headers, body: bytes, redactor: Redactor) -> tuple[Headers, str]:
    """Redacted headers and body; Content-Length is hidden if it reveals the length of a secret."""
    text = _text(body)
    shown = redacted_parts.body(text, redactor)
    told = (
        (name, redacted_parts.HIDDEN if "⟨" in shown and name.lower() == "content-length" else value)
        for name, value in headers
    )
    return (
        tuple((redactor.text(name), redacted_parts.header(name, value, redactor)) for name, value in told),
        _printable(shown),
    )


def _text(body: bytes) -> str:
    return body.decode("utf-8", "replace")


def _printable(text: str) -> str:
    """Escapes characters that terminals or XML parsers do not accept."""
    text = "".join(char if char.isprintable() or char in "\n\t" else f"\\x{ord(char):02x}" for char in text)
    return text if len(text) <= MAX_BODY else f"{text[:MAX_BODY]}… ({len(text)} characters)"
