"""The lock names one version with its digests for everything that is installed, and nothing else."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parents[2]
LOCKS = ("run", "dev", "intercept", "mcp-sdk", "fastapi", "lock", "mutants", "readers", "all")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def entries(lock: str) -> list[str]:
    """One entry a pin: its continuation lines belong to it."""
    text = (ROOT / "requirements" / f"{lock}.txt").read_text(encoding="utf-8")
    lines = re.sub(r"\\\n", " ", text).splitlines()
    return [line for line in lines if line.strip() and not line.lstrip().startswith("#")]


def pins(lock: str) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for entry in entries(lock):
        requirement = Requirement(entry.partition("--hash")[0].strip())
        found.setdefault(canonicalize_name(requirement.name), set()).add(str(requirement.specifier))
    return found


def asked_for(*groups: str) -> list[Requirement]:
    texts = [text for group in groups for text in PROJECT["dependency-groups"][group]]
    return [Requirement(text) for text in texts]


RUN = [Requirement(text) for text in PROJECT["project"]["dependencies"]] + asked_for("build")
EXTRA = [Requirement(text) for text in PROJECT["project"]["optional-dependencies"]["chromium"]]


@pytest.mark.parametrize("lock", LOCKS)
def test_every_entry_is_one_version_with_a_digest(lock: str) -> None:
    pinned = re.compile(r"==[^ ]+ .*--hash=sha256:[0-9a-f]{64}")
    assert [entry for entry in entries(lock) if not pinned.search(entry)] == []


@pytest.mark.parametrize(
    ("lock", "requirements"),
    [
        ("run", RUN),
        ("dev", RUN + asked_for("dev")),
        ("intercept", asked_for("intercept")),
        ("mcp-sdk", asked_for("mcp-sdk")),
        ("fastapi", asked_for("fastapi")),
        ("lock", asked_for("lock")),
        ("mutants", asked_for("mutants")),
        ("readers", asked_for("readers")),
        ("all", RUN + EXTRA + asked_for("dev", "browser")),
    ],
    ids=LOCKS,
)
def test_the_lock_has_what_the_project_asks_for(lock: str, requirements: list[Requirement]) -> None:
    locked = pins(lock)
    for requirement in requirements:
        versions = locked.get(canonicalize_name(requirement.name), set())
        assert versions, f"{lock}.txt lacks {requirement.name}: make lock"
        wrong = [each for each in versions if not requirement.specifier.contains(each.removeprefix("=="))]
        assert wrong == [], f"{lock}.txt has {requirement.name}{wrong} for {requirement}: make lock"


def test_what_runs_is_developed_with_the_same_versions() -> None:
    run, dev = pins("run"), pins("dev")
    everything = pins("all")
    assert {name: dev.get(name) for name in run} == run
    assert {name: everything.get(name) for name in dev} == dev


def test_playwright_is_an_extra() -> None:
    assert "playwright" in pins("all")
    assert "playwright" not in pins("run") | pins("dev")


def test_the_intercepting_proxy_stays_out_of_our_environment() -> None:
    assert "mitmproxy" in pins("intercept")
    assert "mitmproxy" not in pins("run") | pins("dev")
