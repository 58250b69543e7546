"""Redacts the parts of a request or an answer.

The verification of a record calls the same functions again: whatever they would change was not redacted.
"""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import unquote_plus

from gateproof.reports.redaction import Redactor

# Headers with credentials; their values are never shown.
_CREDENTIALS = frozenset({"cookie", "set-cookie", "proxy-authorization", "dpop"})
_ADDRESSES = frozenset({"location", "referer", "content-location"})
HIDDEN = "⟨hidden⟩"
BASIC = "⟨basic_credentials#1⟩"


def header(name: str, value: str, redactor: Redactor) -> str:
    """The redacted value of a header."""
    if name.lower() in _CREDENTIALS:
        return HIDDEN
    if name.lower() == "authorization" and value.lower().startswith("basic "):
        return f"{value[:5]} {BASIC}"
    return url(value, redactor) if name.lower() in _ADDRESSES else redactor.text(value)


def url(address: str, redactor: Redactor) -> str:
    """The URL; each value of its query is redacted separately."""
    address, mark, query = address.partition("?")
    query, hash_mark, fragment = query.partition("#")
    shown = redactor.text(address) + mark + _pairs(query, redactor)
    return shown + (hash_mark + _pairs(fragment, redactor) if hash_mark else "")


def _pairs(encoded: str, redactor: Redactor) -> str:
    """Form-encoded pairs; a value that may be shown keeps its encoding."""
    return "&".join(_pair(pair, redactor) for pair in encoded.split("&"))


def _pair(pair: str, redactor: Redactor) -> str:
    name, equals, value = pair.partition("=")
    decoded = unquote_plus(value)
    shown = redactor.value(decoded)
    return redactor.text(name) + equals + (value if shown == decoded else shown)


def body(text: str, redactor: Redactor) -> str:
    """The text of a body; values of JSON or of a form are redacted separately."""
    if text[:1] in {"{", "["}:
        text = _json(text, redactor)
    elif "=" in text and " " not in text and "<" not in text:
        text = _pairs(text, redactor)
    return redactor.text(text)


def _json(text: str, redactor: Redactor) -> str:
    try:
        return json.dumps(values(json.loads(text), redactor), ensure_ascii=False)
    except (ValueError, RecursionError):
        return text


def values(document: Any, redactor: Redactor) -> Any:
    """A JSON document with each string redacted separately; numbers are unchanged."""
    if isinstance(document, str):
        return redactor.value(document)
    if isinstance(document, list):
        return [values(each, redactor) for each in document]
    if isinstance(document, dict):
        return {redactor.text(name): values(each, redactor) for name, each in document.items()}
    return document
