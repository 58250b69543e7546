"""The world of `gateproof serve`, and browsers in which people look at it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

HERE = Path(__file__).parent
ROOT = HERE.parents[2]
NARROW = 360
_EVERYTHING = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
_COLOURS = ["color-contrast", "link-in-text-block"]
_AXE = """async (asked) => (await axe.run(document, {runOnly: asked}))
    .violations.map((found) => `${found.id}: ${found.nodes.map((node) => node.html).slice(0, 3)}`)"""
_WIDTH = "document.documentElement.scrollWidth"


@pytest.fixture(scope="module")
def world() -> Iterator[dict[str, Any]]:
    """The world of `gateproof serve`, with a list of what must not reach a browser."""
    process = subprocess.Popen(
        [sys.executable, str(HERE / "served_world.py")],
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    line = process.stdout.readline()
    assert line, "the world did not start"
    yield json.loads(line)
    process.stdin.close()
    assert process.wait(30) == 0
    process.stdout.close()


@dataclass(kw_only=True)
class Surfer:
    """A browser in which everything is written down that came, was said, or was asked for."""

    context: Any
    facts: dict[str, Any]
    axe: str
    said: list[str] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)
    looked: int = 0

    def tab(self) -> Any:
        return self.context.new_page()

    def look(self, tab: Any, name: str) -> None:
        """Light and dark, wide and narrow: nothing that axe minds, and nothing to scroll sideways."""
        self.looked += 1
        tab.evaluate(self.axe)
        for scheme, asked in (("light", _EVERYTHING), ("dark", _COLOURS)):
            tab.emulate_media(color_scheme=scheme)
            assert tab.evaluate(_AXE, asked) == [], f"{name}, {scheme}"
            self._picture(tab, f"{name}-{scheme}")
        size = tab.viewport_size
        tab.set_viewport_size({"width": NARROW, "height": size["height"]})
        assert tab.evaluate(_WIDTH) <= NARROW, name
        self._picture(tab, f"{name}-narrow")
        tab.set_viewport_size(size)

    def _picture(self, tab: Any, name: str) -> None:
        """For somebody who wants to see them: SCREENSHOTS names a folder."""
        if folder := os.environ.get("SCREENSHOTS"):
            tab.screenshot(path=f"{folder}/{self.looked:02}-{name}.png", full_page=True)

    def sign_in(self, tab: Any) -> None:
        tab.goto(self.facts["console_url"])
        tab.get_by_label("Name").fill(self.facts["operator"]["name"])
        tab.get_by_label("Password").fill(self.facts["operator"]["password"])
        tab.get_by_role("button", name="Sign in").click()
        tab.wait_for_url("**/projects")

    def go_to_the_merchant(self, tab: Any) -> None:
        """The merchant's form is as untidy as its seed made it, so its fields are found by their names."""
        tab.get_by_role("link", name="Sign in at the gateway").click()
        user = self.facts["users"][0]
        tab.locator("input[name=username]").fill(user["login"])
        tab.locator("input[name=password]").fill(user["password"])
        tab.locator("input[name=password]").press("Enter")

    def assert_silent_and_at_home(self) -> None:
        """No word on the browser's console, and no request to anybody but this world."""
        assert self.said == []
        names = ("base_url", "core_url", "console_url", "playground_url", "merchant_url", "service_url")
        home = {urlsplit(self.facts[name])[:2] for name in names}
        assert {urlsplit(url)[:2] for url in self.asked} <= home

    @staticmethod
    def create_project(tab: Any, name: str) -> None:
        tab.get_by_role("link", name="New Project").click()
        tab.get_by_label("Name").fill(name)
        tab.get_by_label("Hold new agents").check()
        tab.get_by_role("button", name="Create the Project").click()

    @staticmethod
    def make_steps(tab: Any, first: int, last: int) -> None:
        for step in range(first, last + 1):
            tab.get_by_role("button", name=f"Make step {step}").click()
            tab.get_by_role("button", name=f"Make step {step}").wait_for(state="detached")


Surf = Callable[..., Surfer]


@pytest.fixture
def surf(chromium: Any, axe: str, world: dict[str, Any]) -> Iterator[Surf]:
    opened: list[Surfer] = []

    def begin(*, script: bool = True, recorded: bool = False) -> Surfer:
        # Playwright sends loopback through the proxy too, which a browser by itself would not.
        through = {"proxy": {"server": world["proxy_url"]}} if recorded else {}
        context = chromium.new_context(ignore_https_errors=True, java_script_enabled=script, **through)
        context.set_default_timeout(15_000)
        surfer = Surfer(context=context, facts=world, axe=axe)
        context.on("console", lambda message: surfer.said.append(message.text))
        context.on("weberror", lambda error: surfer.said.append(str(error.error)))
        context.on("request", lambda request: surfer.asked.append(request.url))
        opened.append(surfer)
        return surfer

    yield begin
    for surfer in opened:
        surfer.context.close()
