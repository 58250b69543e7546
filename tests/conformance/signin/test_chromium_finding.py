"""Where Chromium is looked for, and what is said where something is missing."""

from __future__ import annotations

import importlib.util
from dataclasses import replace
from pathlib import Path

import pytest

from gateproof.conformance.signin import factory
from gateproof.conformance.signin.chromium.finding import chromium, missing
from gateproof.conformance.signin.sign_in_result import SignInFailed
from gateproof.conformance.targets.errors import TargetError
from gateproof.conformance.targets.file import load
from gateproof.conformance.targets.model import GatewayTarget


@pytest.fixture
def there(monkeypatch: pytest.MonkeyPatch) -> None:
    """Playwright is installed, whatever this environment has."""
    find = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: name == "playwright" or find(name))


def program(folder: Path, name: str) -> Path:
    folder.mkdir(exist_ok=True)
    path = folder / name
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)
    return path


def test_the_lightest_on_the_path_is_taken(tmp_path: Path) -> None:
    browser = program(tmp_path, "chromium")
    assert chromium({"PATH": str(tmp_path)}) == browser

    shell = program(tmp_path, "chromium-headless-shell")
    assert chromium({"PATH": str(tmp_path)}) == shell
    assert chromium({"PATH": str(tmp_path), "CHROMIUM": str(browser)}) == browser


@pytest.mark.usefixtures("there")
def test_a_name_that_leads_nowhere_is_not_made_up_for(tmp_path: Path) -> None:
    program(tmp_path, "chromium")
    variables = {"PATH": str(tmp_path), "CHROMIUM": str(tmp_path / "gone")}

    assert chromium(variables) is None
    assert missing(variables) == f"CHROMIUM names {tmp_path / 'gone'}, which is not a program"
    assert "apt-get install chromium" in missing({"PATH": str(tmp_path / "empty")})
    assert missing({"PATH": str(tmp_path)}) == ""


def test_without_playwright_it_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)

    assert "gateproof[chromium]" in missing()
    assert "make chromium" in missing()


@pytest.fixture
def target(tmp_path: Path) -> GatewayTarget:
    file = tmp_path / "acme.toml"
    file.write_text(
        '[target]\nrole = "gateway"\nname = "g"\nbase_url = "http://127.0.0.1:1"\n'
        'core_url = "http://127.0.0.1:2"\n[sign_in]\nkind = "chromium"\n'
    )
    found = load(file)
    assert isinstance(found, GatewayTarget)
    return found


def test_a_target_file_that_asks_for_what_is_missing_is_refused_with_the_remedy(
    target: GatewayTarget, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)

    with pytest.raises(TargetError, match=r"acme\.toml: \[sign_in\] kind: found 'chromium'.*make chromium"):
        factory.check_usable(target)


def test_nothing_starts_before_somebody_signs_in(
    target: GatewayTarget, monkeypatch: pytest.MonkeyPatch
) -> None:
    way = factory.make(target, send=_never, may_visit=lambda _: True)
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    browser = way.browser("https://agent.example/callback")  # type: ignore[attr-defined]

    with pytest.raises(SignInFailed, match="make chromium"):
        browser.open("http://127.0.0.1:1/")
    way.close()  # type: ignore[attr-defined]


def test_other_ways_load_nothing_of_it(target: GatewayTarget) -> None:
    forms = replace(target, sign_in=replace(target.sign_in, kind="forms"))

    assert type(factory.make(forms, send=_never, may_visit=lambda _: True)).__module__.endswith("forms")


def _never(*_: object) -> None:
    raise AssertionError("nothing is sent")
