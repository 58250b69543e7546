"""What a target says is shown on a terminal and in a CI log, and does nothing there."""

from __future__ import annotations

import io

import pytest

from gateproof.reports.terminal import Screen


def said(text: str, *colours: str) -> str:
    out = io.StringIO()
    screen = Screen(out=out, colour=True, live=False, width=100)
    screen.say(screen.paint(text, *colours) if colours else text)
    return out.getvalue()


@pytest.mark.parametrize("text", ["\x1b[3A\x1b[0J\x1b[32mconformant", "a\rb", "a\x07b", "a\u202eb"])
def test_what_moves_the_cursor_is_marked(text: str) -> None:
    for shown in (said(text), said(text, "red").removeprefix("\x1b[31m").removesuffix("\x1b[0m\n")):
        assert not {"\x1b", "\r", "\x07", "\u202e"} & set(shown)


@pytest.mark.parametrize(
    "text", ["::stop-commands::x", "   ::add-mask::y", "first\n::error::z", "##[group]g"]
)
def test_no_line_begins_like_a_command_of_a_ci_system(text: str) -> None:
    assert not any(line.lstrip().startswith(("::", "##[")) for line in said(text).splitlines())


def test_our_own_colours_stay() -> None:
    assert said("plain and good", "green") == "\x1b[32mplain and good\x1b[0m\n"
