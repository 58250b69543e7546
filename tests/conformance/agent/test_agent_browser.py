"""The browser that agents open is a command with one argument, and holds no secret."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from conformance.run.agent_browser import BrowserCommand, Courier

URL = "https://127.0.0.1:9/ask?state=a%20b&x='$(id)"


@pytest.fixture
def browser(tmp_path: Path) -> Iterator[BrowserCommand]:
    with BrowserCommand(tmp_path) as command:
        yield command


def ran(browser: BrowserCommand, *arguments: str) -> int:
    return subprocess.run([str(browser.path), *arguments], check=False, timeout=30, env={}).returncode


def test_address_arrives_as_it_was_given(browser: BrowserCommand) -> None:
    came: list[str] = []
    browser.serves(lambda url: came.append(url) is None)

    assert ran(browser, URL) == 0
    assert came == [URL]


def test_whoever_comes_too_late_or_says_too_much_is_not_served(browser: BrowserCommand) -> None:
    came: list[str] = []
    browser.serves(lambda url: came.append(url) is None)
    assert ran(browser, URL, "--new-window") == 1
    browser.serves(None)
    assert ran(browser, URL) == 1
    assert came == []


def test_command_shows_no_secret(browser: BrowserCommand) -> None:
    text, place = browser.path.read_text(), browser.path.with_name("browser.json")
    token = place.read_text().split('"')[1]
    assert token not in text
    assert place.stat().st_mode & 0o077 == 0


def test_webbrowser_of_python_opens_it(browser: BrowserCommand) -> None:
    came: list[str] = []
    browser.serves(lambda url: came.append(url) is None)
    program = "import sys, webbrowser; sys.exit(not webbrowser.open(sys.argv[1]))"
    done = subprocess.run(
        [sys.executable, "-c", program, URL], check=False, timeout=30, env={"BROWSER": str(browser.path)}
    )

    assert done.returncode == 0
    assert came == [URL]


def test_redirect_goes_to_this_machine_alone() -> None:
    over = threading.Event()
    courier = Courier(over)
    assert courier.bring("https://agent.example/callback?code=c") is None
    over.set()
    assert courier.bring("https://127.0.0.1:9/callback?code=c") is None
