"""report.html in a real browser: silent, accessible, and whole without JavaScript and on paper."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Any, Protocol

import pytest

RUNS = ("every-verdict", "clean", "hostile", "interrupted", "nothing-known", "full")
_AXE = """async () => (await axe.run(document, {runOnly: [
    "wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"
]})).violations.map((found) => `${found.id}: ${found.nodes.map((node) => node.html).slice(0, 3)}`)"""
_SHOWN = "() => [...document.querySelectorAll('[data-rule]')].filter((rule) => rule.checkVisibility()).length"


class Open(Protocol):
    def __call__(
        self, name: str, *, scheme: str = ..., width: int = ..., script: bool = ..., fragment: str = ...
    ) -> AbstractContextManager[Any]: ...


@pytest.mark.parametrize("script", [True, False], ids=["script", "no-script"])
@pytest.mark.parametrize("name", RUNS)
def test_page_is_silent_and_asks_nobody(opened: Open, name: str, script: bool) -> None:
    with opened(name, script=script) as tab:
        assert tab.said == []
        assert tab.asked == [tab.page.url]
        assert tab.page.title() != "owned"
        assert tab.page.locator("h1").is_visible()


@pytest.mark.parametrize(
    ("name", "scheme", "width"),
    [
        ("every-verdict", "light", 1280),
        ("every-verdict", "dark", 1280),
        ("every-verdict", "light", 320),
        ("every-verdict", "dark", 320),
        ("interrupted", "dark", 1280),
        ("nothing-known", "light", 1280),
        ("hostile", "light", 1280),
    ],
)
def test_axe_finds_nothing(opened: Open, axe: str, name: str, scheme: str, width: int) -> None:
    with opened(name, scheme=scheme, width=width) as tab:
        tab.page.evaluate(axe)
        assert tab.page.evaluate(_AXE) == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_on_an_unfolded_page_without_script(opened: Open, axe: str, scheme: str) -> None:
    with opened("scriptless", scheme=scheme) as tab:
        tab.page.evaluate("document.querySelectorAll('details').forEach((each) => each.open = true)")
        tab.page.evaluate(axe)
        assert tab.page.evaluate(_AXE) == []


@pytest.mark.parametrize("width", [320, 600, 900, 1160, 1280])
@pytest.mark.parametrize("name", ["every-verdict", "hostile"])
def test_page_never_scrolls_sideways(opened: Open, name: str, width: int) -> None:
    with opened(name, width=width) as tab:
        tab.page.evaluate("document.querySelectorAll('details').forEach((each) => each.open = true)")
        assert tab.page.evaluate("document.documentElement.scrollWidth") <= width


def test_dark_and_light_differ(opened: Open) -> None:
    colours = set()
    for scheme in ("light", "dark"):
        with opened("every-verdict", scheme=scheme) as tab:
            colours.add(tab.page.evaluate("getComputedStyle(document.body).backgroundColor"))
    assert len(colours) == 2


def test_filter_and_search_leave_what_was_asked_for(opened: Open) -> None:
    with opened("every-verdict") as tab:
        page = tab.page
        assert page.evaluate(_SHOWN) == 12
        page.get_by_role("combobox", name="Verdict").select_option("not-testable")
        assert page.evaluate(_SHOWN) == 3
        page.get_by_role("searchbox", name="Search").fill("CLOCK proxy-07")
        assert page.evaluate(_SHOWN) == 1
        assert page.get_by_role("status").text_content() == "1 of 12 rules shown"
        assert not page.get_by_role("heading", name="Passed").is_visible()
        page.get_by_role("button", name="Show all").click()
        page.wait_for_function(f"({_SHOWN})() === 12")
        page.get_by_role("combobox", name="Level").select_option("silent")
        assert page.evaluate(_SHOWN) == 1


def test_link_to_a_rule_leads_there_whatever_is_filtered_out_or_folded(opened: Open) -> None:
    with opened("every-verdict") as tab:
        page = tab.page
        page.get_by_role("combobox", name="Verdict").select_option("failed")
        page.locator(".matrix a[href='#CODE-03']").click()
        page.wait_for_function("document.getElementById('CODE-03').checkVisibility()")
        assert page.locator("#CODE-03").is_visible()


@pytest.mark.parametrize("script", [True, False], ids=["script", "no-script"])
def test_address_of_a_rule_unfolds_it(opened: Open, script: bool) -> None:
    with opened("full", script=script, fragment="#VAULT-08") as tab:
        assert tab.page.locator("#VAULT-08").is_visible()
        assert tab.page.locator("#VAULT-08").bounding_box()["y"] < 800


def test_malformed_fragment_is_nothing_to_stumble_over(opened: Open) -> None:
    with opened("every-verdict", fragment="#%E0%A4%A") as tab:
        assert tab.said == []


def test_form_that_needs_a_script_is_hidden_without_one(opened: Open) -> None:
    with opened("every-verdict", script=False) as tab:
        assert not tab.page.locator("form.filter").is_visible()
    with opened("every-verdict") as tab:
        assert tab.page.locator("form.filter").is_visible()


def test_everything_can_be_reached_and_unfolded_by_keyboard(opened: Open) -> None:
    with opened("every-verdict") as tab:
        page = tab.page
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.className") == "skip"
        page.keyboard.press("Enter")
        reached = set()
        for _ in range(60):
            page.keyboard.press("Tab")
            reached.add(page.evaluate("document.activeElement.tagName"))
        assert {"INPUT", "SELECT", "BUTTON", "SUMMARY", "FIGURE", "A"} <= reached
        summary = page.locator("details.rule:not([open]) > summary").first
        summary.focus()
        page.keyboard.press("Enter")
        assert page.evaluate("document.activeElement.parentElement.open")


@pytest.mark.parametrize("script", [True, False], ids=["script", "no-script"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_paper_shows_everything_in_light_colours(opened: Open, script: bool, scheme: str) -> None:
    with opened("every-verdict", script=script, scheme=scheme) as tab:
        page = tab.page
        if script:
            page.get_by_role("combobox", name="Verdict").select_option("failed")
        page.emulate_media(media="print", color_scheme=scheme)
        assert not page.locator("form.filter").is_visible()
        assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
        hidden = """() => [...document.querySelectorAll('[data-rule], .body, .wire, pre')]
            .filter((each) => !each.checkVisibility({contentVisibilityAuto: true})).map((each) => each.id)"""
        assert page.evaluate(hidden) == []
        assert page.evaluate("document.querySelector('#DISC-01').getBoundingClientRect().height") > 20


def test_pdf_of_the_page_can_be_made(opened: Open) -> None:
    with opened("every-verdict") as tab:
        assert tab.page.pdf(format="A4").startswith(b"%PDF")
        assert tab.said == []
