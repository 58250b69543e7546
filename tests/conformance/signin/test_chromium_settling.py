"""When a page is at rest, told from looks at it; time is handed in."""

from __future__ import annotations

from typing import Any

from gateproof.conformance.signin.chromium.settling import BARE_S, NO_EFFECT_S, READY_S, Look, Mark, Settling

BUTTON = {"number": 1, "is": "button", "kind": "submit", "name": "", "text": "Go"}


def look(text: str = "a", *, number: int | None = 1, lives: bool = False, **found: Any) -> Look:
    forms = found.pop("forms", [{"controls": [BUTTON]}])
    shown = {"url": "http://a.test/", "text": text, "forms": forms, "ready": "complete", "lives": lives}
    return Look(found={**shown, **found}, frame=None, number=number)


def at_rest(settling: Settling, seen: Look, now: float, *, due: int = 1, asked: int = 0) -> bool:
    settling.see(seen, asked=asked, now=now)
    return settling.at_rest(seen, due=due, scripted=False, now=now)


def test_new_page_without_scripts_is_at_rest_at_once() -> None:
    assert at_rest(Settling(None, 0.0), look(), 0.0)


def test_page_that_scripts_may_change_has_to_stay_as_it_is() -> None:
    settling = Settling(None, 0.0)
    assert not at_rest(settling, look("a", lives=True), 0.0)
    assert not at_rest(settling, look("b", lives=True), READY_S)
    assert not at_rest(settling, look("b", lives=True), READY_S * 1.9)
    assert at_rest(settling, look("b", lives=True), READY_S * 2)

    bare = Settling(None, 0.0)
    assert not at_rest(bare, look(lives=True, forms=[]), 0.0)
    assert not at_rest(bare, look(lives=True, forms=[]), READY_S)
    assert at_rest(bare, look(lives=True, forms=[]), BARE_S)


def test_page_that_still_loads_is_none() -> None:
    settling = Settling(None, 0.0)
    settling.see(None, asked=0, now=0.0)

    assert not at_rest(settling, look(ready="interactive"), 1.0)
    assert at_rest(settling, look(), 1.1)


def test_page_that_is_about_to_give_way_is_not_the_next_one() -> None:
    old = look("the form", number=1)
    settling = Settling(Mark(signature=old.signature, asked=1), 0.0)

    # The answer has come, and the browser has not shown it yet.
    assert not at_rest(settling, old, 0.1, due=2, asked=2)
    assert at_rest(settling, look("the next", number=2), 0.2, due=2, asked=2)


def test_page_whose_script_has_only_sent_a_request_is_given_time_to_show_the_answer() -> None:
    old = look("the login", lives=True)
    settling = Settling(Mark(signature=old.signature, asked=1), 0.0)

    assert not at_rest(settling, old, 0.1, asked=2)
    assert not at_rest(settling, old, BARE_S * 0.9, asked=2)
    assert not at_rest(settling, look("the password", lives=True), BARE_S, asked=2)
    assert at_rest(settling, look("the password", lives=True), BARE_S + READY_S, asked=2)

    unanswered = Settling(Mark(signature=old.signature, asked=1), 0.0)
    assert not at_rest(unanswered, old, 0.0, asked=2)
    assert at_rest(unanswered, old, BARE_S, asked=2)


def test_page_that_never_comes_is_not_waited_for_for_ever() -> None:
    old = look("with a download", number=1)
    settling = Settling(Mark(signature=old.signature, asked=1), 0.0)

    assert not at_rest(settling, old, 0.1, due=2, asked=2)
    assert at_rest(settling, old, NO_EFFECT_S + 0.2, due=2, asked=2)


def test_act_that_changes_nothing_and_asks_for_nothing_is_told() -> None:
    old = look(lives=True)
    settling = Settling(Mark(signature=old.signature, asked=1), 0.0)

    assert not at_rest(settling, old, NO_EFFECT_S, asked=1)
    assert not settling.had_no_effect(NO_EFFECT_S)
    assert settling.had_no_effect(NO_EFFECT_S + 0.1)


def test_what_the_user_typed_is_no_change_of_the_page() -> None:
    field = {"number": 1, "is": "field", "kind": "text", "name": "user", "value": ""}
    empty = look(forms=[{"controls": [field]}])
    filled = look(forms=[{"controls": [{**field, "value": "alice"}]}])
    disabled = look(forms=[{"controls": []}])

    assert empty.signature == filled.signature != disabled.signature


def test_document_that_cannot_tell_its_number_is_taken_as_it_is() -> None:
    assert at_rest(Settling(None, 0.0), look(number=None), 0.0, due=7)
