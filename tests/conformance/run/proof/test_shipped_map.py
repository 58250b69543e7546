"""The map that ships says on which commit it was made, and is written so that a diff shows what changed."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from gateproof.conformance.suite import proven


def test_map_is_read_as_it_was_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(proven, "_FOLDER", tmp_path / "proven")
    caught = {
        "what": "It is wrong.",
        "rules": ["REG-01"],
        "checks": ["REG-01/" + "long" * 30, "REG-01/short"],
    }
    shipped = {"role": "agent", "defects": {"wrong": caught}, "variants": [], "later": {}}

    proven.ship("agent", shipped)

    text = (tmp_path / "proven" / "agent.json").read_text()
    assert json.loads(text) == shipped
    assert '"rules": ["REG-01"],\n' in text
    assert '"variants": [],\n' in text


@pytest.mark.parametrize("role", ["gateway", "service", "agent"])
def test_map_says_on_which_commit_it_was_made(role: str) -> None:
    assert re.fullmatch("[0-9a-f]{40}", json.loads(proven.place(role).read_bytes())["commit"])
