"""report.html: a whole run on one page that loads nothing and works without JavaScript."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from importlib.resources import files

from gateproof.reports.html_page.exchange import Detail
from gateproof.reports.html_page.faults import faults
from gateproof.reports.html_page.labels import (
    BASELINED,
    ERROR,
    FAILED,
    FINDING,
    KINDS,
    LEVELS,
    Kind,
    badge,
    kind_of,
    outcome_of,
)
from gateproof.reports.html_page.markup import attribute, counted, facts, picture
from gateproof.reports.html_page.matrix import matrix
from gateproof.reports.html_page.overview import about, first_failure, title, untested, verdict
from gateproof.reports.html_page.rule import folded, in_full
from gateproof.reports.verdicts import RuleResult, RunResult

# The size limit keeps the page usable: the more rules fail, the less detail each failure gets.
MOST_BYTES = 2_800_000
_DETAIL_LEVELS = (
    (Detail(exchanges=24, body=2100, text=4000), 900_000),
    (Detail(exchanges=12, body=2100, text=4000), MOST_BYTES),
    (Detail(exchanges=5, body=800, text=1000), MOST_BYTES),
    (Detail(exchanges=2, body=300, text=400), MOST_BYTES),
    (Detail(exchanges=1, body=120, text=200), MOST_BYTES),
)
_LEAST_DETAIL = Detail(exchanges=0, body=0, text=100)
_IN_FULL = (FAILED, FINDING, BASELINED, ERROR)
_ICON_COLOURS = {"good": "#17693a", "bad": "#b3261e", "warn": "#7a4b00"}
# Hidden until the script shows it.
_FILTER = (
    "<form class=filter role=search aria-label='Rules on this page' hidden>"
    "<label>Search <input type=search name=words autocomplete=off spellcheck=false></label>"
    "<label>Verdict <select name=kind><option value=''>any</option>"
    + "".join(f'<option value="{kind.name}">{kind.sign} {kind.word}</option>' for kind in KINDS)
    + "</select></label><label>Level <select name=level><option value=''>any</option>"
    + "".join(f"<option>{level}</option>" for level in LEVELS)
    + "</select></label><button type=reset>Show all</button><output aria-live=polite></output></form>"
)


def render(result: RunResult) -> dict[str, bytes]:
    """The page, with as much detail as the size limit allows."""
    for detail, most in _DETAIL_LEVELS:
        page = _bounded(_pieces(result, detail), most)
        if page is not None:
            return {"report.html": page}
    return {"report.html": "".join(_pieces(result, _LEAST_DETAIL)).encode("utf-8")}


def _bounded(pieces: Iterable[str], most: int) -> bytes | None:
    """The pieces joined; None as soon as they exceed the limit."""
    page = bytearray()
    for piece in pieces:
        page += piece.encode("utf-8")
        if len(page) > most:
            return None
    return bytes(page)


def _pieces(result: RunResult, detail: Detail) -> Iterator[str]:
    """The page from top to bottom."""
    style, script = _asset("page.css"), _asset("page.js")
    yield (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{_policy(style, script)}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        '<meta name="color-scheme" content="light dark"><meta name="referrer" content="no-referrer">'
        f'<title>{attribute(title(result))}</title><link rel="icon" href="{attribute(_icon(result))}">'
        f"<style>{style}</style></head>\n<body><a class=skip href=#rules>To the rules</a>\n"
        f"<header><p class=brand>gateproof report</p>{verdict(result, detail)}</header>\n"
        f"<main><div class=opening>{about(result)}<div>{untested(result, detail)}"
        f"{first_failure(result, detail)}</div></div>\n{matrix(result)}\n{faults(result)}\n"
        f"<div id=rules tabindex=-1>{_FILTER}"
    )
    for kind in KINDS:
        yield from _section(
            kind, [rule for rule in result.rules if kind_of(rule, result) == kind], result, detail
        )
    yield f"</div></main>\n{_footer()}<script>{script}</script></body></html>\n"


def _section(kind: Kind, rules: Sequence[RuleResult], result: RunResult, detail: Detail) -> Iterator[str]:
    """All rules of one kind."""
    if not rules:
        return
    name = f"kind-{kind.name}"
    yield (
        f'<section class=kind aria-labelledby="{name}"><h2 id="{name}">{kind.heading} '
        f"<small>{counted(len(rules), 'rule')}</small></h2><p class=note>{kind.meaning}</p>\n"
    )
    show = in_full if kind in _IN_FULL else folded
    for rule in rules:
        yield f"{show(rule, result, detail)}\n"
    yield "</section>\n"


def _footer() -> str:
    """The explanation of verdicts, levels and marks."""
    meanings = facts(
        [
            *((badge(kind), kind.meaning) for kind in KINDS),
            *LEVELS.items(),
            (
                "<i>⟨proxy_token#1⟩</i>",
                "stands for a secret, the same one throughout a check; in a command it is a variable to set.",
            ),
            (
                "<i>⟨opaque~1⟩</i>",
                "stands for a text that looks like a credential; it is hidden, with its length.",
            ),
            (
                "<b class=u>U+202E</b>",
                "stands for an invisible character, or one that changes the text direction.",
            ),
        ]
    )
    return (
        "<footer><h2>How to read this page</h2><details open><summary>Verdicts, levels and marks</summary>"
        f"{meanings}</details></footer>"
    )


def _policy(style: str, script: str) -> str:
    """Only the page's own style and script are allowed, so text from a target cannot load or run anything."""
    return (
        f"default-src 'none'; style-src '{_hash(style)}'; script-src '{_hash(script)}'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )


def _hash(source: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(source.encode()).digest()).decode()}"


def _icon(result: RunResult) -> str:
    """The verdict as the icon of the browser tab; without an icon, browsers request one."""
    outcome = outcome_of(result)
    return picture(
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32">'
        f'<rect width="32" height="32" rx="7" fill="{_ICON_COLOURS[outcome.tone]}"/><text x="16" y="24"'
        f' font-size="22" font-weight="700" text-anchor="middle" fill="#fff">{outcome.sign}</text></svg>'
    )


@cache
def _asset(name: str) -> str:
    return files("gateproof.reports.html_page").joinpath(name).read_text(encoding="utf-8").strip()
