"""The request that a browser sends when a form is submitted."""

from __future__ import annotations

import re
import secrets
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urlencode

from gateproof.conformance.signin.page import LINK, Field

if TYPE_CHECKING:
    from gateproof.conformance.signin.page import Button, Form

Entries = list[tuple[str, str, bool]]


@dataclass(frozen=True, kw_only=True, slots=True)
class Submission:
    """Method, URL and body of a submitted form."""

    method: str
    url: str
    body: bytes = b""
    content_type: str | None = None


def submit(form: Form, pressed: Button | None) -> Submission:
    """The submission of a form with this button."""
    method = (pressed and pressed.method) or form.method
    enctype = (pressed and pressed.enctype) or form.enctype
    url = ((pressed and pressed.action) or form.action).partition("#")[0]
    if method == LINK:
        return Submission(method="GET", url=url)
    entries = _entries(form, pressed)
    pairs = [(name, value) for name, value, _ in entries]
    if method == "get":
        query = urlencode(pairs, encoding=form.charset, errors="xmlcharrefreplace")
        return Submission(method="GET", url=f"{url.partition('?')[0]}?{query}")
    if enctype == "multipart/form-data":
        body, content_type = _multipart(entries, form.charset)
    elif enctype == "text/plain":
        text = "".join(f"{name}={value}\r\n" for name, value in pairs)
        body, content_type = text.encode(form.charset, "xmlcharrefreplace"), enctype
    else:
        body = urlencode(pairs, encoding=form.charset, errors="xmlcharrefreplace").encode("ascii")
        content_type = enctype
    return Submission(method="POST", url=url, body=body, content_type=content_type)


def said(form: Form, pressed: Button | None) -> list[tuple[str, str]]:
    """The names and values that the form submits; none for a link."""
    return [] if form.method == LINK else [(name, value) for name, value, _ in _entries(form, pressed)]


def _entries(form: Form, pressed: Button | None) -> Entries:
    """Names and values in page order; the third member is True for a file."""
    entries: Entries = []
    for control in form.controls:
        if control is pressed:
            entries += _pressed(pressed)
        elif isinstance(control, Field) and control.name:
            entries += _sent(control, form.charset)
    return entries


def _pressed(button: Button) -> Entries:
    if button.kind == "image":
        prefix = f"{button.name}." if button.name else ""
        return [(f"{prefix}x", "0", False), (f"{prefix}y", "0", False)]
    return [(button.name, button.value, False)] if button.name else []


def _sent(field: Field, charset: str) -> Entries:
    if field.kind == "file":
        return [(field.name, "", True)]
    if field.kind == "hidden" and field.name.lower() == "_charset_":
        return [(field.name, charset, False)]
    return [(field.name, re.sub(r"\r\n|\r|\n", "\r\n", value), False) for value in field.values()]


def _multipart(entries: Entries, charset: str) -> tuple[bytes, str]:
    boundary = f"gateproof{secrets.token_hex(12)}"
    parts = []
    for name, value, is_file in entries:
        escaped = name.replace('"', "%22").replace("\r", "%0D").replace("\n", "%0A")
        head = f'--{boundary}\r\nContent-Disposition: form-data; name="{escaped}"'
        if is_file:
            head += '; filename=""\r\nContent-Type: application/octet-stream'
        parts.append(f"{head}\r\n\r\n{value}\r\n".encode(charset, "xmlcharrefreplace"))
    return b"".join(parts) + f"--{boundary}--\r\n".encode(), f"multipart/form-data; boundary={boundary}"
