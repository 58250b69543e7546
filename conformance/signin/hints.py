"""The hints of a target file, for pages that a browser alone would not get right."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from conformance.signin.filling import choose_button, reading_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from conformance.parties import User
    from conformance.signin.page import Button, Form, Page
    from conformance.target.model import Step


def apply_hints(
    page: Page, steps: Iterable[Step], user: User, *, approve: bool
) -> tuple[Form, Button | None] | None:
    """The form that the first fitting hint means, filled as it says; None where no hint fits."""
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
        field = next((field for field in form.fields if name in {field.name, field.id}), None)
        if field is None:
            return None
        for placeholder, value in values.items():
            text = text.replace(placeholder, value)  # noqa: PLW2901 - one text, filled in place by place
        form = form.replacing(field, replace(field, value=text))
    if step.press is None:
        return form, choose_button(form, approve=approve)
    button = next((button for button in form.buttons if _is_called(button, step.press)), None)
    if button is None or (not approve and reading_of(button, form) == "approve"):
        return None
    return form, button


def _is_called(button: Button, name: str) -> bool:
    wanted = " ".join(name.split()).casefold()
    return wanted in {text.casefold() for text in (button.text, button.value, button.id, button.name)}
