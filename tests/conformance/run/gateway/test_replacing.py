"""Texts in hidden fields and cookies are replaced in the encodings that servers use for them."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from urllib.parse import quote

import pytest

from gateproof.conformance.run.gateway.replacing import replaced, replaced_in_url

OLD, NEW = "alice@merchant.example", "bob?>@merchant.example"
SAID = {"login": OLD, "of all": "~~~???>>>~~~???>>>~~~???>>>"}


def encoded(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


def for_urls(text: str) -> str:
    return base64.urlsafe_b64encode(text.encode()).decode()


FORMS: dict[str, Callable[[str], str]] = {
    "plain": str,
    "percent": lambda text: quote(text, safe=""),
    "base64": encoded,
    "base64, percent-encoded": lambda text: quote(encoded(text), safe=""),
    "base64url": for_urls,
    "base64url without padding": lambda text: for_urls(text).rstrip("="),
    "JWT": lambda text: f"{for_urls('{}').rstrip('=')}.{for_urls(text).rstrip('=')}.c2ln",
    "signed with a time": lambda text: f"{encoded(text)}:1tQ3:c2ln",
}


@pytest.mark.parametrize("form", FORMS)
def test_text_is_replaced_in_its_encoding(form: str) -> None:
    write, text = FORMS[form], json.dumps(SAID)
    assert replaced(write(text), {OLD: NEW}) == write(text.replace(OLD, NEW))


@pytest.mark.parametrize("text", ["", "abc", "c2ln", "%zz", "\u00fc", "a.b:c|d", quote("/+=", safe="")])
def test_other_text_stays_as_it_is(text: str) -> None:
    assert replaced(text, {OLD: NEW}) == text


def test_values_in_a_url_are_replaced_one_by_one() -> None:
    text = json.dumps(SAID)
    url = "https://gateway.test:8443/res/decision?a&b={}&c={}#d"
    before = url.format(for_urls(text), quote(OLD, safe=""))
    after = url.format(for_urls(text.replace(OLD, NEW)), quote(NEW, safe=""))
    assert replaced_in_url(before, {OLD: NEW}) == after
