"""An exchange as a reader of a report may see it."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import unquote_plus

from conformance.wire.exchange import Exchange, Headers
from reports.exchanges import Shown
from reports.redaction import Redactor

MAX_BODY = 2000
# Headers in which servers and clients keep credentials: their values are never shown.
_ADDRESSES = frozenset({"location", "referer", "content-location"})
_CREDENTIALS = frozenset({"cookie", "set-cookie", "proxy-authorization", "dpop"})


def show(exchange: Exchange, redactor: Redactor) -> Shown:
    """The exchange with every secret replaced."""
    request, answer = exchange.request, exchange.answer
    return Shown(
        step=exchange.step,
        method=request.method,
        url=_url(request.url, redactor),
        request_headers=_headers(request.headers, redactor),
        request_body=_body(request.body, redactor),
        status=None if answer is None else answer.status,
        answer_headers=() if answer is None else _headers(answer.headers, redactor),
        answer_body="" if answer is None else _body(answer.body, redactor),
        failure=exchange.failure or "",
        retries=len(exchange.retries),
        at_s=round(exchange.at_s, 4),
        elapsed_s=0.0 if answer is None else round(answer.elapsed_s, 4),
    )


def mention(exchange: Exchange, redactor: Redactor) -> Shown:
    """The exchange without headers and bodies: enough where nothing went wrong, and a tenth of the size."""
    request, answer = exchange.request, exchange.answer
    return Shown(
        step=exchange.step,
        method=request.method,
        url=_url(request.url, redactor),
        status=None if answer is None else answer.status,
        failure=exchange.failure or "",
        retries=len(exchange.retries),
        at_s=round(exchange.at_s, 4),
        elapsed_s=0.0 if answer is None else round(answer.elapsed_s, 4),
    )


def _headers(headers: Headers, redactor: Redactor) -> Headers:
    return tuple((redactor.text(name), _value(name, value, redactor)) for name, value in headers)


def _value(name: str, value: str, redactor: Redactor) -> str:
    if name.lower() in _CREDENTIALS:
        return "⟨hidden⟩"
    if name.lower() == "authorization" and value.lower().startswith("basic "):
        return f"{value[:5]} ⟨basic_credentials#1⟩"
    return _url(value, redactor) if name.lower() in _ADDRESSES else redactor.text(value)


def _url(url: str, redactor: Redactor) -> str:
    """The address, each value of its query judged by itself."""
    address, mark, query = url.partition("?")
    query, hash_mark, fragment = query.partition("#")
    shown = redactor.text(address) + mark + _pairs(query, redactor)
    return shown + (hash_mark + _pairs(fragment, redactor) if hash_mark else "")


def _pairs(encoded: str, redactor: Redactor) -> str:
    """Form-encoded pairs; a value that may be shown stays as it was encoded."""
    return "&".join(_pair(pair, redactor) for pair in encoded.split("&"))


def _pair(pair: str, redactor: Redactor) -> str:
    name, equals, value = pair.partition("=")
    decoded = unquote_plus(value)
    shown = redactor.value(decoded)
    return redactor.text(name) + equals + (value if shown == decoded else shown)


def _body(body: bytes, redactor: Redactor) -> str:
    """The body as text, its values judged one by one where it is JSON or a form."""
    text = body.decode("utf-8", "replace")
    if text[:1] in {"{", "["}:
        text = _json(text, redactor)
    elif "=" in text and " " not in text and "<" not in text:
        text = _pairs(text, redactor)
    return _printable(redactor.text(text))


def _json(text: str, redactor: Redactor) -> str:
    try:
        return json.dumps(_values(json.loads(text), redactor), ensure_ascii=False)
    except (ValueError, RecursionError):
        return text


def _values(document: Any, redactor: Redactor) -> Any:
    if isinstance(document, str):
        return redactor.value(document)
    if isinstance(document, list):
        return [_values(each, redactor) for each in document]
    if isinstance(document, dict):
        return {redactor.text(name): _values(each, redactor) for name, each in document.items()}
    return document


def _printable(text: str) -> str:
    """What a terminal or an XML parser would choke on is shown as what it is."""
    text = "".join(char if char.isprintable() or char in "\n\t" else f"\\x{ord(char):02x}" for char in text)
    return text if len(text) <= MAX_BODY else f"{text[:MAX_BODY]}… ({len(text)} characters)"
