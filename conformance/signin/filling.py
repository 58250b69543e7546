"""Decides how a user fills in a form and which button the user presses."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING, Literal

from gateproof.conformance.signin.page import LINK, Button, Form

if TYPE_CHECKING:
    from collections.abc import Iterable

    from gateproof.conformance.signin.page import Field, Page
    from gateproof.conformance.suite.parties import User

Reading = Literal["approve", "deny", "go", ""]

_TYPED = {"text", "email", "tel", "url", "number", "search"}
_UNTYPED = {"hidden", "password", "checkbox", "radio", "select", "textarea", "file", "range", "color"}
_USER = re.compile(
    r"user|log.?(?:in|on)|e.?mail|account|ident|handle|sign.?in|\bname\b|\buid\b|\bid\b", re.IGNORECASE
)
_DENY = re.compile(
    r"deny|decline|cancel|no|reject|refuse|disallow|disagree|abort|dont|never|not"
    r"|forbid|block|back|close|dismiss|exit"
)
_APPROVE = re.compile(
    r"approve|allow|accept|authori[sz]e|yes|grant|agree|confirm|permit|connect|link|consent|trust|enable"
)
# Links may contain negations with another meaning: "Not you?", "No account yet?".
_REFUSING = re.compile(r"\W*(?:cancel|deny|decline|reject|refuse|abort)\b", re.IGNORECASE)
_GO = re.compile(r"continue|next|proceed|ok|okay|submit|signin|login|logon|enter|go|send")


def fill(form: Form, user: User) -> Form:
    """The form with the user's login and password filled in and required boxes ticked."""
    filled = form
    name_field = user_field(form)
    for field in form.fields:
        if field.readonly:
            continue
        if field.kind == "password":
            filled = filled.replacing(field, replace(field, value=user.password.reveal()))
        elif field is name_field:
            filled = filled.replacing(field, replace(field, value=user.login))
    return _complete(filled)


def asks_who(form: Form) -> bool:
    """True for a form with an input for a user's name or password."""
    return asks_password(form) or user_field(form) is not None


def asks_password(form: Form) -> bool:
    return any(field.kind == "password" for field in form.fields)


def user_field(form: Form) -> Field | None:
    """The input for the user name: found by its names, or as the last one before a password."""
    fields = form.fields
    typed = [field for field in fields if _is_typed(field) and not field.readonly]
    typed = [field for field in typed if not field.hidden] or typed
    for hint in (_by_autocomplete, _by_name, _by_label):
        found = next((field for field in typed if hint(field)), None)
        if found is not None:
            return found
    passwords = [index for index, field in enumerate(fields) if field.kind == "password"]
    before = [field for field in fields[: passwords[0]] if field in typed] if passwords else []
    return before[-1] if before else None


def choose_button(form: Form, *, approve: bool) -> Button | None:
    """The button that this user presses on this form; None if there is no suitable one."""
    read: dict[Reading, list[Button]] = {"approve": [], "deny": [], "go": [], "": []}
    for button in form.buttons:
        read[reading_of(button, form)].append(button)
    asks = asks_who(form)
    if approve:
        # A form that asks for credentials is sent with its first suitable button, "Sign in" or "Allow".
        wanted = [*read["approve"], *read["go"]]
        if asks:
            wanted = [button for button in form.buttons if button in wanted]
        return next(iter([*wanted, *read[""]]), None)
    if asks and not read["approve"]:
        # To decline, the user first has to sign in: "Cancel" on this page would end the sign-in.
        return next(iter([*read["go"], *read[""]]), None)
    return next(iter([*read["deny"], *read["go"], *read[""]]), None)


def choose_form(page: Page, *, approve: bool) -> tuple[Form, Button | None] | None:
    """The first form of the page and its button; another form if only that one has the right button.

    Many pages have two forms to approve and deny, or an unrelated form in their header. None if the page has
    nothing that this user would press.
    """
    if not page.forms:
        return None
    if not approve and (refusal := _refusal_beside(page)) is not None:
        return refusal, refusal.buttons[0]
    wanted: Reading = "approve" if approve else "deny"
    first = page.forms[0]
    if not asks_who(first):
        said = _button_meaning(page, wanted)
        first = said[0] if said is not None else _first_that_matters(page)
        if said is not None and first is not page.forms[0]:
            return said
    if not first.buttons:
        return first, None
    pressed = choose_button(first, approve=approve)
    return None if pressed is None else (first, pressed)


def _refusal_beside(page: Page) -> Form | None:
    """The link that refuses, on a page whose buttons all approve."""
    read = {reading_of(button, form) for form in page.forms for button in form.buttons}
    if any(asks_who(form) for form in page.forms) or "approve" not in read or "deny" in read:
        return None
    plain = replace(page, links=tuple(link for link in page.links if _REFUSING.match(link.text)))
    return next(iter(link_forms(plain, approve=False, leads_on=False)), None)


def _button_meaning(page: Page, wanted: Reading) -> tuple[Form, Button] | None:
    """The first button with exactly this meaning, in a form that does not ask for credentials."""
    said = ((form, button) for form in page.forms if not asks_who(form) for button in form.buttons)
    return next(((form, button) for form, button in said if reading_of(button, form) == wanted), None)


def _first_that_matters(page: Page) -> Form:
    """If no button has the right meaning: the form that asks for credentials, or one that leads on."""
    first = page.forms[0]
    asking = next((form for form in page.forms if asks_password(form)), None)
    if asking is not None or _leads_on(first) or _is_sent_by_itself(first):
        return asking or first
    wanted = (asks_who, _leads_on, lambda form: bool(form.buttons))
    found = (next(filter(fits, page.forms), None) for fits in wanted)
    return next((form for form in found if form is not None), first)


def _is_sent_by_itself(form: Form) -> bool:
    """True if the form has hidden fields only: a script would submit it."""
    return not form.buttons and all(field.kind == "hidden" for field in form.fields)


def _leads_on(form: Form) -> bool:
    return any(reading_of(button, form) == "go" for button in form.buttons)


def link_forms(page: Page, *, approve: bool, leads_on: bool) -> tuple[Form, ...]:
    """The link with the right meaning, as a form with one button; `leads_on` also allows "continue".

    None if there are several: links on a page without forms may lead anywhere.
    """
    readings = ("approve" if approve else "deny", *(("go",) if leads_on else ()))
    for wanted in readings:
        meant = {link.url: link for link in page.links if _read(link.text) == wanted}
        if len(meant) == 1:
            return tuple(
                Form(action=link.url, method=LINK, controls=(Button(text=link.text),))
                for link in meant.values()
            )
    return ()


def reading_of(button: Button, form: Form) -> Reading:
    """The meaning of a button: by its text, else its value, else a name that no other button has."""
    if reading := _read(button.text) or _read(button.value):
        return reading
    shared = sum(other.name == button.name for other in form.buttons) > 1
    return ("" if shared else _read(button.name)) or _read(button.id)


# The pages of a sign-in have the same few buttons again and again.
@lru_cache(maxsize=256)
def _read(text: str) -> Reading:
    spaced = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", text).lower().replace("'", "").replace("\u2019", "")
    words = re.findall(r"[a-z]+", spaced)
    pairs = [one + other for one, other in pairwise(words)]
    # The first word with a meaning counts: "Approve (you can cancel at any time)", "Do not allow".
    for word in words:
        if _DENY.fullmatch(word):
            return "deny"
        if _APPROVE.fullmatch(word):
            return "approve"
    return "go" if any(_GO.fullmatch(word) for word in (*words, *pairs)) else ""


def _is_typed(field: Field) -> bool:
    return field.kind in _TYPED or field.kind not in _UNTYPED


def _by_autocomplete(field: Field) -> bool:
    return bool({"username", "email"}.intersection(field.autocomplete.split()))


def _by_name(field: Field) -> bool:
    return _USER.search(field.name) is not None or _USER.search(field.id) is not None


def _by_label(field: Field) -> bool:
    return _USER.search(field.label) is not None


def _complete(form: Form) -> Form:
    """The form with required boxes ticked and required choices made."""
    for field in form.fields:
        if not field.required:
            continue
        unticked = field.kind == "checkbox" and not field.on
        if unticked or (field.kind == "radio" and not _any_chosen(form.fields, field.name)):
            form = form.replacing(field, replace(field, on=True))
        elif field.kind == "select" and not any(field.chosen):
            choice = next((option for option in field.options if option), "")
            form = form.replacing(field, replace(field, chosen=(choice,)))
    return form


def _any_chosen(fields: Iterable[Field], name: str) -> bool:
    return any(field.kind == "radio" and field.name == name and field.on for field in fields)
