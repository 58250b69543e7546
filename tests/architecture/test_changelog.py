"""A fragment of the changelog says by its name what it can change; the newest section is this version's."""

from __future__ import annotations

import re
from pathlib import Path

from gateproof import __version__

ROOT = Path(__file__).resolve().parents[2]
NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*\.(verdict|feature|fix)\.md")


def test_every_fragment_has_a_kind_and_says_something() -> None:
    fragments = [path for path in (ROOT / "changelog.d").iterdir() if path.name != "README.md"]
    assert [path.name for path in fragments if not NAME.fullmatch(path.name)] == []
    assert [path.name for path in fragments if not path.read_text(encoding="utf-8").strip()] == []


def test_the_newest_section_is_the_one_of_this_version() -> None:
    sections = re.findall(r"^## (\S+)", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert sections[0] == __version__
