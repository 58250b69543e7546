"""badge.svg: the verdict as a small picture, without embedded fonts and network requests."""

from __future__ import annotations

from gateproof.reports.escaping import attribute, shortened, xml
from gateproof.reports.summary_texts import caveats, cut_short, is_partial, target_name, verdict_words
from gateproof.reports.verdicts import RunResult, RunVerdict, Verdict

_LABEL = "gateproof"
# Dark enough for white text on top of them.
_COLOURS = {
    RunVerdict.CONFORMANT: "#1a6b3c",
    RunVerdict.NOT_CONFORMANT: "#a3231b",
    RunVerdict.INCOMPLETE: "#7a4b00",
    RunVerdict.NO_VERDICT: "#555555",
}
_HEIGHT = 20
_SIZE = 11
_PAD = 7
_CHARACTER = 6.3


def render(result: RunResult) -> dict[str, bytes]:
    """The file and its content."""
    words = _words(result)
    left, right = _width(_LABEL), _width(words)
    name = f"{_LABEL}: {target_name(result)}, {result.role}: {words}"
    lines = [
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{left + right}" height="{_HEIGHT}"'
            f' viewBox="0 0 {left + right} {_HEIGHT}" role="img" aria-labelledby="title desc">'
        ),
        f'<title id="title">{xml(name)}</title>',
        f'<desc id="desc">{xml(" ".join([*caveats(result), shortened(result.reason)]))}</desc>',
        f'<rect width="{left}" height="{_HEIGHT}" fill="#333333"/>',
        f'<rect x="{left}" width="{right}" height="{_HEIGHT}" fill="{_COLOURS[result.verdict]}"/>',
        (
            f'<g fill="#ffffff" font-family="Verdana,DejaVu Sans,sans-serif" font-size="{_SIZE}"'
            ' text-anchor="middle" aria-hidden="true">'
        ),
        _text(_LABEL, left / 2, left),
        _text(words, left + right / 2, right),
        "</g>",
        "</svg>",
        "",
    ]
    return {"badge.svg": "\n".join(lines).encode("utf-8")}


def _words(result: RunResult) -> str:
    """The verdict, with the most important caveat."""
    words = [verdict_words(result)]
    if cut_short(result):
        words.append("run cut short")
    elif is_partial(result):
        words.append("part of the rules")
    if untested := result.counts[Verdict.NOT_TESTABLE.value]:
        words.append(f"{untested} not tested")
    return ", ".join(words)


def _width(text: str) -> int:
    return round(len(text) * _CHARACTER) + 2 * _PAD


def _text(text: str, middle: float, room: int) -> str:
    """Text that is stretched to this width, whatever font is used."""
    length = attribute(str(room - 2 * _PAD))
    return (
        f'<text x="{middle:g}" y="14" textLength={length} lengthAdjust="spacingAndGlyphs">{xml(text)}</text>'
    )
