"""A real Chromium that is offline, and the pages that it is shown."""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib.metadata import files
from pathlib import Path
from typing import Any

import pytest

from gateproof.reports.html import render

_SAMPLES = Path(__file__).parents[1] / "reports" / "html" / "conftest.py"
_ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
]


@dataclass(kw_only=True)
class Opened:
    """A page in a tab, with all that it said and asked for while it was there."""

    page: Any
    said: list[str] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)


Open = Callable[..., Any]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Every test in this folder needs a browser."""
    for item in items:
        if item.path.is_relative_to(Path(__file__).parent):
            item.add_marker(pytest.mark.needs("browser"))
            item.add_marker(pytest.mark.needs("chromium"))


@pytest.fixture(scope="session")
def chromium() -> Iterator[Any]:
    from playwright.sync_api import sync_playwright  # noqa: PLC0415 - an extra

    place = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
    with sync_playwright() as started:
        browser = started.chromium.launch(executable_path=place, args=_ARGUMENTS)
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def axe() -> str:
    """The source of axe-core, as the package brings it along."""
    (found,) = (path for path in files("axe-playwright-python") or () if path.name == "axe.min.js")
    return found.read_text(encoding="utf-8")


@pytest.fixture(scope="session")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The pages of the sample runs, as files."""
    spec = importlib.util.spec_from_file_location("html_samples", _SAMPLES)
    assert spec is not None
    assert spec.loader is not None
    samples = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(samples)
    folder = tmp_path_factory.mktemp("pages")
    found = {}
    for name, run in samples.RUNS.items():
        found[name] = folder / name / "report.html"
        found[name].parent.mkdir()
        found[name].write_bytes(render(run())["report.html"])
    # axe is a script itself: to look at a page without scripts it needs one that has none of its own.
    scriptless = re.sub(rb"<script>.*?</script>", b"", found["every-verdict"].read_bytes(), flags=re.DOTALL)
    found["scriptless"] = folder / "scriptless.html"
    found["scriptless"].write_bytes(scriptless)
    return found


@pytest.fixture
def opened(chromium: Any, pages: dict[str, Path]) -> Open:
    """Opens a page in a browser that reaches nothing but files."""

    @contextmanager
    def open_it(
        name: str, *, scheme: str = "light", width: int = 1280, script: bool = True, fragment: str = ""
    ) -> Iterator[Opened]:
        context = chromium.new_context(
            offline=True,
            color_scheme=scheme,
            viewport={"width": width, "height": 800},
            java_script_enabled=script,
        )
        tab = Opened(page=context.new_page())
        tab.page.on("console", lambda message: tab.said.append(message.text))
        tab.page.on("pageerror", lambda error: tab.said.append(str(error)))
        tab.page.on("request", lambda request: tab.asked.append(request.url))
        tab.page.goto(f"{pages[name].as_uri()}{fragment}")
        yield tab
        context.close()

    return open_it
