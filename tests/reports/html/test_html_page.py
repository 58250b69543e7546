"""The page asks nobody for anything, shows what a target says without obeying it, and is always the same."""

from __future__ import annotations

import base64
import hashlib
import os
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from selectolax.lexbor import LexborHTMLParser, LexborNode

from gateproof.reports.html import MOST_BYTES, render
from gateproof.reports.verdicts import RunResult

Runs = dict[str, Callable[..., RunResult]]
_FETCHING = (
    "src",
    "srcset",
    "href",
    "xlink:href",
    "action",
    "formaction",
    "data",
    "poster",
    "background",
    "ping",
)
_REFERRING = ("for", "aria-labelledby", "aria-describedby", "aria-controls")


def page_of(result: RunResult) -> str:
    return render(result)["report.html"].decode("utf-8")


def parsed(result: RunResult) -> LexborHTMLParser:
    return LexborHTMLParser(page_of(result))


def elements(page: LexborHTMLParser) -> list[LexborNode]:
    return page.css("*")


def test_nothing_on_the_page_leads_anywhere_else(any_run: RunResult) -> None:
    page = parsed(any_run)
    for element in elements(page):
        for name, value in element.attributes.items():
            assert not name.startswith("on"), element.html
            assert name != "style", "the policy would refuse it"
            if name in _FETCHING:
                assert value is not None
                assert value.startswith("#") or (
                    element.tag == "link" and value.startswith("data:image/svg+xml,")
                )
    source = page_of(any_run)
    style = source.partition("<style>")[2].partition("</style>")[0]
    assert "url(" not in style
    assert "@import" not in style


def test_every_reference_within_the_page_leads_somewhere(any_run: RunResult) -> None:
    page = parsed(any_run)
    ids = Counter(element.attributes["id"] for element in page.css("[id]"))
    assert [name for name, count in ids.items() if count > 1] == []
    assert {link.attributes["href"][1:] for link in page.css("a[href]")} <= set(ids)
    for name in _REFERRING:
        for element in page.css(f"[{name}]"):
            assert set((element.attributes[name] or "").split()) <= set(ids)


def test_policy_allows_the_style_and_the_script_of_the_page_and_nothing_else(any_run: RunResult) -> None:
    page = parsed(any_run)
    policy = page.css_first("meta[http-equiv=Content-Security-Policy]").attributes["content"] or ""
    directives = dict(each.strip().split(" ", 1) for each in policy.split(";"))
    source = page_of(any_run)

    assert directives.pop("default-src") == "'none'"
    assert directives.pop("base-uri") == "'none'"
    assert directives.pop("form-action") == "'none'"
    assert directives.pop("img-src") == "data:"
    for tag in ("style", "script"):
        assert len(page.css(tag)) == 1
        content = source.partition(f"<{tag}>")[2].partition(f"</{tag}>")[0]
        digest = base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()
        assert directives.pop(f"{tag}-src") == f"'sha256-{digest}'"
    assert directives == {}
    assert source.index("Content-Security-Policy") < source.index("<style>")


def test_every_text_of_the_target_is_shown_and_none_becomes_markup(
    runs: Runs, hostile_words: tuple[str, ...]
) -> None:
    page = parsed(runs["hostile"]())
    known = set(elements_of_a_harmless_page(runs))

    assert {element.tag for element in elements(page)} <= known
    shown = page.body.text() if page.body else ""
    for words in hostile_words[:5]:
        assert words in shown
    attributes = [value or "" for element in elements(page) for value in element.attributes.values()]
    assert not any("onerror" in value or "onmouseover" in value for value in attributes)


def elements_of_a_harmless_page(runs: Runs) -> list[str]:
    return [element.tag for element in elements(parsed(runs["every-verdict"]()))]


def test_what_cannot_be_seen_is_marked(runs: Runs) -> None:
    result = runs["hostile"]()
    source = page_of(result)

    assert not re.search(
        "[\\x00-\\x08\\x0b-\\x1f\\x7f-\\x9f\\u200b-\\u200f\\u2028-\\u202e\\u2060-\\u2069\\ufeff]", source
    )
    assert {"U+202E", "U+200B", "U+0000", "U+FEFF", "U+D800", "U+E0041"} <= {
        mark.text() for mark in LexborHTMLParser(source).css("b.u")
    }


def test_words_of_the_target_stand_apart_from_ours(runs: Runs) -> None:
    """Letters of a right-to-left script are shown as they are, and move nothing around them."""
    page = parsed(runs["named"]("שלום gateway"))

    assert next(each.text() for each in page.css("header bdi")).startswith("שלום gateway")


def test_long_texts_are_cut_and_say_so(runs: Runs) -> None:
    assert "(3000 characters)" in page_of(runs["failing"](42, "x" * 3000))


def test_same_run_gives_the_same_bytes(any_run: RunResult) -> None:
    assert render(any_run) == render(any_run)


def test_bytes_depend_on_no_hash_seed_and_no_locale() -> None:
    program = (
        "import hashlib, importlib.util as u, sys; sys.path.insert(0, '.')\n"
        "spec = u.spec_from_file_location('s', sys.argv[1])\n"
        "s = u.module_from_spec(spec); spec.loader.exec_module(s)\n"
        "from gateproof.reports.html import render\n"
        "print(hashlib.sha256(render(s.RUNS['every-verdict']())['report.html']).hexdigest())"
    )
    place = Path(__file__)
    digests = {
        subprocess.run(
            [sys.executable, "-c", program, str(place.with_name("conftest.py"))],
            cwd=place.parents[3],
            env=os.environ | {"PYTHONHASHSEED": seed, "LC_ALL": locale, "TZ": zone},
            capture_output=True,
            text=True,
            check=True,
            timeout=60,
        ).stdout
        for seed, locale, zone in (("1", "C", "UTC"), ("2", "C.UTF-8", "Asia/Tokyo"))
    }
    assert len(digests) == 1


def test_page_of_a_full_run_is_under_a_megabyte(runs: Runs) -> None:
    assert len(render(runs["failing"](5))["report.html"]) < 1_000_000


@pytest.mark.parametrize("body", ["", "x" * 2000, "<\u202e" * 1000], ids=["usual", "long", "hostile"])
def test_page_on_which_everything_fails_is_under_three_megabytes(runs: Runs, body: str) -> None:
    result = runs["failing"](999, body)
    page = page_of(result)

    assert len(page.encode()) <= MOST_BYTES < 3_000_000
    assert "left out here" in page
    assert page.count("<article") == len(result.rules)
