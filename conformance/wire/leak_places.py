"""Names the place in an answer's body where a value was found."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from typing import Any

from gateproof.conformance.wire.exchange import Answer
from gateproof.reports.decoders import text_of

_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_STACK = re.compile(
    r"Traceback \(most recent call last\)|File \"[^\"]+\", line \d|^\s*at \S.*:\d+", re.MULTILINE
)
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.\-]{0,31}")
_DEPTH = 12
Pieces = Iterator[tuple[str, str]]


def place_in_body(answer: Answer, found: Callable[[str], bool]) -> str:
    """The name of the first piece of the body that contains the value; `body` if only the whole does."""
    for name, piece in _pieces(answer, found):
        if found(piece):
            stack = ", in a stack trace" if _STACK.search(piece) else ""
            return f"body, {name}{stack}" if name else f"body{stack}"
    return "body"


def _pieces(answer: Answer, found: Callable[[str], bool]) -> Pieces:
    text = text_of(answer.body)
    kind = (answer.header("Content-Type") or "").partition(";")[0].strip().lower()
    if kind == "text/event-stream":
        yield from _stream_pieces(text, found)
    elif (document := _json(text)) is not None:
        yield from _json_pieces(document, found)
    yield from (("an HTML comment", comment) for comment in _COMMENT.findall(text))
    yield "", text


def _stream_pieces(text: str, found: Callable[[str], bool]) -> Pieces:
    data: list[str] = []
    for line in [*text.replace("\r\n", "\n").replace("\r", "\n").split("\n"), ""]:
        field, colon, value = line.partition(":")
        if not line:
            yield from _event_pieces("\n".join(data), found)
            data = []
        elif field == "data":
            data.append(value.removeprefix(" "))
        else:
            yield f"the {field} of an event" if field and colon else "a comment of the event stream", value


def _event_pieces(data: str, found: Callable[[str], bool]) -> Pieces:
    message = _json(data)
    if message is None:
        yield "the data of an event", data
        return
    method = message.get("method") if isinstance(message, dict) else None
    said = (
        f"{method}, "
        if isinstance(method, str) and re.fullmatch(r"notifications/[a-z_/]{1,40}", method)
        else ""
    )
    for name, piece in _json_pieces(message, found):
        yield f"{said}{name}", piece


def _json_pieces(document: Any, found: Callable[[str], bool], at: str = "", depth: int = 0) -> Pieces:
    """Every leaf by its path; strings that contain JSON are parsed."""
    if depth < _DEPTH:
        inner: Any = document
        if isinstance(document, str) and isinstance(opened := _json(document), dict | list):
            at, inner = f"{at}, JSON in it, " if at else "", opened
        if isinstance(inner, dict):
            for name, value in inner.items():
                yield f"a name of a member of {at or 'it'}", str(name)
                shown = name if _NAME.fullmatch(name) and not found(name) else "…"
                dot = "." if at and not at.endswith(" ") else ""
                yield from _json_pieces(value, found, f"{at}{dot}{shown}", depth + 1)
            return
        if isinstance(inner, list):
            for number, value in enumerate(inner):
                yield from _json_pieces(value, found, f"{at}[{number}]", depth + 1)
            return
    yield f"member {at}" if at else "", document if isinstance(document, str) else json.dumps(document)


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None
