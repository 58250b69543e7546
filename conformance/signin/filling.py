"""What a user does with a form: fill in who they are, or press what they mean."""

from __future__ import annotations

import re
from dataclasses import replace
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
# A link may say no to anything: "Not you?", "No account yet?".
_REFUSING = re.compile(r"\W*(?:cancel|deny|decline|reject|refuse|abort)\b", re.IGNORECASE)
_GO = re.compile(r"continue|next|proceed|ok|okay|submit|signin|login|logon|enter|go|send")


def fill(form: Form, user: User) -> Form:
    """The form with the user's login and password where they are asked for, and required boxes ticked."""
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
    """The input that wants the user's name: by what it is called, or as the last one before a password."""
    typed = [field for field in form.fields if _is_typed(field) and not field.readonly]
    typed = [field for field in typed if not field.unseen] or typed
    for hint in (_by_autocomplete, _by_name, _by_label):
        found = next((field for field in typed if hint(field)), None)
        if found is not None:
            return found
    passwords = [index for index, field in enumerate(form.fields) if field.kind == "password"]
    before = [field for field in form.fields[: passwords[0]] if field in typed] if passwords else []
    return before[-1] if before else None


def choose_button(form: Form, *, approve: bool) -> Button | None:
    """The button this user presses on this form; None where none fits, or where there is none at all."""
    read: dict[Reading, list[Button]] = {"approve": [], "deny": [], "go": [], "": []}
    for button in form.buttons:
        read[reading_of(button, form)].append(button)
    asks = asks_who(form)
    if approve:
        # A form that is filled in goes off by whichever comes first, "Sign in" or "Allow".
        wanted = [*read["approve"], *read["go"]]
        if asks:
            wanted = [button for button in form.buttons if button in wanted]
        return next(iter([*wanted, *read[""]]), None)
    if asks and not read["approve"]:
        # Whoever wants to decline has to get to the question first: "Cancel" here answers another one.
        return next(iter([*read["go"], *read[""]]), None)
    return next(iter([*read["deny"], *read["go"], *read[""]]), None)


def choose_form(page: Page, *, approve: bool) -> tuple[Form, Button | None] | None:
    """The first form of the page with what is pressed there; another one where only that says what is meant.

    Approve and deny are two forms on many pages, and many have a form for something else in their head. None
    where the page offers nothing that this user would do.
    """
    if not page.forms:
        return None
    if not approve and (refusal := _refusal_beside(page)) is not None:
        return refusal, refusal.buttons[0]
    wanted: Reading = "approve" if approve else "deny"
    first = page.forms[0]
    if not asks_who(first):
        said = _saying(page, wanted)
        first = said[0] if said is not None else _first_that_matters(page)
        if said is not None and first is not page.forms[0]:
            return said
    if not first.buttons:
        return first, None
    pressed = choose_button(first, approve=approve)
    return None if pressed is None else (first, pressed)


def _refusal_beside(page: Page) -> Form | None:
    """The link that refuses, beside a question to which every button says yes."""
    read = {reading_of(button, form) for form in page.forms for button in form.buttons}
    if any(asks_who(form) for form in page.forms) or "approve" not in read or "deny" in read:
        return None
    plain = replace(page, links=tuple(link for link in page.links if _REFUSING.match(link.text)))
    return next(iter(link_forms(plain, approve=False, leads_on=False)), None)


def _saying(page: Page, wanted: Reading) -> tuple[Form, Button] | None:
    """The first button that says just this, in a form that asks for nobody's name."""
    said = ((form, button) for form in page.forms if not asks_who(form) for button in form.buttons)
    return next(((form, button) for form, button in said if reading_of(button, form) == wanted), None)


def _first_that_matters(page: Page) -> Form:
    """Where no button says what is meant: the form that asks who somebody is, or one that leads on."""
    first = page.forms[0]
    asking = next((form for form in page.forms if asks_password(form)), None)
    if asking is not None or _leads_on(first) or _is_sent_by_itself(first):
        return asking or first
    wanted = (asks_who, _leads_on, lambda form: bool(form.buttons))
    found = (next(filter(fits, page.forms), None) for fits in wanted)
    return next((form for form in found if form is not None), first)


def _is_sent_by_itself(form: Form) -> bool:
    """Nothing in it is for people: a script would send it."""
    return not form.buttons and all(field.kind == "hidden" for field in form.fields)


def _leads_on(form: Form) -> bool:
    return any(reading_of(button, form) == "go" for button in form.buttons)


def link_forms(page: Page, *, approve: bool, leads_on: bool) -> tuple[Form, ...]:
    """The link that says what this user means, as a form with one button; on a first page, that `leads_on`.

    None where there are several: a page without forms may have links to anywhere.
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
    """What a button says it does: by its text, else its value, else a name that it shares with no other."""
    shared = sum(other.name == button.name for other in form.buttons) > 1
    for text in (button.text, button.value, "" if shared else button.name, button.id):
        reading = _read(text)
        if reading:
            return reading
    return ""


def _read(text: str) -> Reading:
    spaced = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", text).lower().replace("'", "").replace("\u2019", "")
    words = re.findall(r"[a-z]+", spaced)
    pairs = [one + other for one, other in pairwise(words)]
    # What is said first counts: "Approve (you can cancel at any time)", and "Do not allow".
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
    """The form with what it insists on: required boxes ticked, required choices made."""
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
