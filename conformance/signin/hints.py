"""Applies the hints of a target file, for pages on which the defaults fail."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from gateproof.conformance.signin.filling import choose_button, reading_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from gateproof.conformance.signin.page import Button, Field, Form, Page
    from gateproof.conformance.suite.parties import User
    from gateproof.conformance.targets.model import Step

_BOXES = {"checkbox", "radio"}


def apply_hints(
    page: Page, steps: Iterable[Step], user: User, *, approve: bool
) -> tuple[Form, Button | None] | None:
    """The form of the first matching hint, filled in; None if no hint matches."""
    for step in steps:
        if step.url_contains is not None and step.url_contains not in page.url:
            continue
        for form in page.forms:
            chosen = _apply(form, step, user, approve=approve)
            if chosen is not None:
                return chosen
    return None


def _apply(form: Form, step: Step, user: User, *, approve: bool) -> tuple[Form, Button | None] | None:
    values = {
        "{login}": user.login,
        "{name}": user.name,
        "{password}": user.password.reveal(),
    }
    for name, text in step.fill.items():
        for placeholder, value in values.items():
            text = text.replace(placeholder, value)  # noqa: PLW2901 - one text, filled in place by place
        meant = [field for field in form.fields if name in {field.name, field.id}]
        if not meant:
            return None
        form = _ticked(form, meant, text) if meant[0].kind in _BOXES else _written(form, meant[0], text)
    if step.press is None:
        return form, choose_button(form, approve=approve)
    button = next((button for button in form.buttons if _is_called(button, step.press)), None)
    if button is None or (not approve and reading_of(button, form) == "approve"):
        return None
    return form, button


def _written(form: Form, field: Field, text: str) -> Form:
    return form.replacing(field, replace(field, value=text))


def _ticked(form: Form, meant: list[Field], text: str) -> Form:
    """Ticks the box with this value, else the first with this name; an empty text unticks it."""
    box = next((field for field in meant if field.value == text), meant[0])
    if box.kind == "radio" and text:
        for other in form.fields:
            if other.kind == "radio" and other.name == box.name and other is not box:
                form = form.replacing(other, replace(other, on=False))
    return form.replacing(box, replace(box, on=bool(text)))


def _is_called(button: Button, name: str) -> bool:
    wanted = " ".join(name.split()).casefold()
    return wanted in {text.casefold() for text in (button.text, button.value, button.id, button.name)}
