"""Redacted requests and answers, as the outputs show them."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass, fields
from operator import attrgetter
from typing import Any

Headers = tuple[tuple[str, str], ...]
_LABEL = re.compile(r"⟨([a-z_ ]+)#(\d+)⟩")
_MARK = re.compile(r"⟨[^⟨⟩]*⟩")


@dataclass(frozen=True, kw_only=True, slots=True)
class Shown:
    """One exchange: the request, and the answer or the reason why there was none.

    `resent`: the kept connection had ended, and the request was sent again on a new one. Older records do not
    have it.
    """

    step: str
    method: str
    url: str
    request_headers: Headers = ()
    request_body: str = ""
    status: int | None = None
    answer_headers: Headers = ()
    answer_body: str = ""
    failure: str = ""
    retries: int = 0
    at_s: float = 0.0
    elapsed_s: float = 0.0
    resent: bool = False


_FIELDS = tuple(field.name for field in fields(Shown))
_VALUES = attrgetter(*_FIELDS)


def shown_to_dict(shown: Shown) -> dict[str, Any]:
    """The fields of an exchange; unlike `asdict`, this does not copy the values."""
    return dict(zip(_FIELDS, _VALUES(shown), strict=True))


def shown_to_list(shown: Shown) -> tuple[Any, ...]:
    """The values of the fields, for a transfer between processes with the same fields."""
    values: tuple[Any, ...] = _VALUES(shown)
    return values


def shown_from_list(values: Sequence[Any]) -> Shown:
    """The exchange from its JSON form, in which tuples are lists."""
    named = dict(zip(_FIELDS, values, strict=True))
    for name in ("request_headers", "answer_headers"):
        named[name] = tuple((key, value) for key, value in named[name])
    return Shown(**named)


def request_text(shown: Shown) -> str:
    """The request as lines of text."""
    return _text(f"{shown.method} {shown.url}", shown.request_headers, shown.request_body)


def outcome(shown: Shown) -> str:
    """The status, or why there is no answer."""
    return str(shown.status) if shown.status is not None else shown.failure or "no answer"


def answer_text(shown: Shown) -> str:
    """The answer as lines of text, or the reason why there is none."""
    if shown.status is None:
        return shown.failure or "no answer"
    return _text(str(shown.status), shown.answer_headers, shown.answer_body)


def curl(shown: Shown, *, own_ca: bool) -> str:
    """A command that sends the request again, with shell variables in place of secrets.

    `own_ca`: the target's certificate needs a CA file of its own.
    """
    words = ["curl -sS -i"]
    if own_ca and shown.url.lower().startswith("https:"):
        words.append('--cacert "${CA_FILE}"')
    if shown.method != "GET":
        words.append(f"-X {shown.method}")
    words.append(_quoted(shown.url))
    words += [f"-H {_quoted(f'{name}: {value}')}" for name, value in shown.request_headers]
    if shown.request_body:
        words.append(f"--data-binary {_quoted(shown.request_body)}")
    return " \\\n  ".join(words)


def _text(first: str, headers: Headers, body: str) -> str:
    lines = [first, *(f"{name}: {value}" for name, value in headers)]
    return "\n".join([*lines, "", body] if body else lines)


def _quoted(text: str) -> str:
    """The text as one shell word, with variables in place of labels."""
    if not _MARK.search(text):
        return shlex.quote(text)
    escaped = re.sub(r'(["\\$`])', r"\\\1", text)
    escaped = _LABEL.sub(lambda found: f"${{{found[1].upper().replace(' ', '_')}_{found[2]}}}", escaped)
    return '"' + _MARK.sub("${HIDDEN}", escaped) + '"'
