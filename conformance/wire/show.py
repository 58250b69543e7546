"""An exchange as a reader of a report may see it."""

from __future__ import annotations

import re
import shlex

from conformance.wire.exchange import Answer, Exchange, Headers, Request
from reports.redaction import Redactor
from reports.verdicts import Shown

MAX_BODY = 2000
# Headers in which servers and clients keep credentials: their values are never shown.
_CREDENTIALS = {"cookie", "set-cookie", "proxy-authorization", "dpop"}
_LABEL = re.compile(r"⟨([a-z_ ]+)#(\d+)⟩")
_MARK = re.compile(r"⟨[^⟩]*⟩")


def show(exchange: Exchange, redactor: Redactor) -> Shown:
    """The exchange with every secret replaced."""
    return Shown(
        step=exchange.step,
        request=redactor.text(_request(exchange.request)),
        answer=redactor.text(_answer(exchange)),
        curl=curl(exchange.request, redactor),
    )


def curl(request: Request, redactor: Redactor) -> str:
    """A command that sends the request again, with shell variables for the secrets."""
    words = ["curl -sS -i"]
    if request.method != "GET":
        words.append(f"-X {request.method}")
    words.append(_quoted(redactor.text(request.url)))
    words += [
        f"-H {_quoted(redactor.text(f'{name}: {_value(name, value)}'))}" for name, value in request.headers
    ]
    if request.body:
        words.append(f"--data-binary {_quoted(redactor.text(_body(request.body)))}")
    return " \\\n  ".join(words)


def _request(request: Request) -> str:
    return "\n".join((f"{request.method} {request.url}", *_lines(request.headers), *_paragraph(request.body)))


def _answer(exchange: Exchange) -> str:
    if exchange.answer is None:
        return exchange.failure or "no answer"
    answer: Answer = exchange.answer
    return "\n".join((str(answer.status), *_lines(answer.headers), *_paragraph(answer.body)))


def _lines(headers: Headers) -> list[str]:
    return [f"{name}: {_value(name, value)}" for name, value in headers]


def _value(name: str, value: str) -> str:
    if name.lower() in _CREDENTIALS:
        return "⟨hidden⟩"
    if name.lower() == "authorization" and value.lower().startswith("basic "):
        return f"{value[:5]} ⟨basic_credentials#1⟩"
    return value


def _paragraph(body: bytes) -> tuple[str, ...]:
    return ("", _body(body)) if body else ()


def _body(body: bytes) -> str:
    text = body.decode("utf-8", "replace")
    # What a terminal would act on is shown as what it is.
    text = "".join(char if char.isprintable() or char in "\n\t" else f"\\x{ord(char):02x}" for char in text)
    return text if len(text) <= MAX_BODY else f"{text[:MAX_BODY]}… ({len(body)} bytes)"


def _quoted(text: str) -> str:
    """The text as one shell word in which labels have become variables."""
    if not _MARK.search(text):
        return shlex.quote(text)
    escaped = re.sub(r'(["\\$`])', r"\\\1", text)
    escaped = _LABEL.sub(lambda found: f"${{{found[1].upper().replace(' ', '_')}_{found[2]}}}", escaped)
    return '"' + _MARK.sub("${HIDDEN}", escaped) + '"'
