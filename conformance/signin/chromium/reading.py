"""Reads a live document as a page: what a user sees and can use."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from gateproof.conformance.signin.addresses import resolve
from gateproof.conformance.signin.page import Button, Field, Form, Page

if TYPE_CHECKING:
    from collections.abc import Mapping


@cache
def script(name: str) -> str:
    """A JavaScript file of this package, without its first line."""
    return (files(__package__) / name).read_text(encoding="utf-8").partition("\n")[2]


def page_of(found: Mapping[str, Any], status: int) -> Page:
    """The page from the data that the script read."""
    url = str(found["url"])
    return Page(
        url=url,
        status=status,
        title=" ".join(str(found["title"]).split()),
        text=str(found["text"]),
        forms=tuple(_form(form, url) for form in found["forms"]),
    )


def _form(found: Mapping[str, Any], url: str) -> Form:
    """Submit buttons come first, before buttons with script actions such as "show the password"."""
    fields = [_field(each) for each in found["controls"] if each["is"] == "field"]
    buttons = [_button(each) for each in found["controls"] if each["is"] == "button"]
    buttons.sort(key=lambda button: button.kind == "button")
    return Form(
        action=resolve(url, found["action"]) if found["action"] else url,
        method="post" if found["method"].lower() == "post" else "get",
        id=str(found["id"]),
        controls=(*fields, *buttons),
    )


def _field(found: Mapping[str, Any]) -> Field:
    return Field(
        kind=str(found["kind"]),
        name=str(found["name"]),
        id=str(found["id"]),
        value=str(found["value"]),
        on=bool(found["on"]),
        chosen=tuple(found["chosen"]),
        options=tuple(found["options"]),
        required=bool(found["required"]),
        readonly=bool(found["readonly"]),
        autocomplete=str(found["autocomplete"]),
        label=str(found["label"]),
        number=found["number"],
    )


def _button(found: Mapping[str, Any]) -> Button:
    return Button(
        kind=str(found["kind"]),
        name=str(found["name"]),
        id=str(found["id"]),
        value=str(found["value"]),
        text=str(found["text"]),
        number=found["number"],
    )
