"""A living document as a page: what a user sees of it, and can act on."""

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
    """A script of this package, as the browser is given it."""
    return (files(__package__) / name).read_text(encoding="utf-8").partition("\n")[2]


def page_of(found: Mapping[str, Any], status: int) -> Page:
    """The page that was read; the forms that nobody can send are none."""
    url = str(found["url"])
    return Page(
        url=url,
        status=status,
        title=" ".join(str(found["title"]).split()),
        text=str(found["text"]),
        forms=tuple(_form(form, url) for form in found["forms"]),
    )


def _form(found: Mapping[str, Any], url: str) -> Form:
    """Buttons that submit stand before those that do what a script says: "show the password", for one."""
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
