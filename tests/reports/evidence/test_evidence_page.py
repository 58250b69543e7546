"""The page about the record says what an auditor can do without gateproof, and that works."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from gateproof.reports import seal
from gateproof.reports.record import FILE, Kind
from gateproof.reports.verdicts import Reason

PAGE = (Path(__file__).resolve().parents[3] / "docs" / "evidence.md").read_text(encoding="utf-8")


def block(language: str) -> str:
    (found,) = re.findall(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)
    return str(found)


def run(*command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)


def test_chain_is_checked_by_the_lines_of_the_page(kit: Any) -> None:
    bundle = kit.bundle()
    command = (sys.executable, "-W", "ignore", "-c", block("python"), str(bundle.folder))
    said = run(*command).stdout
    assert said.startswith("not-conformant {")
    assert int(said.split()[-2]) > 1
    bundle.put([line.replace(b"acme", b"asme") for line in bundle.lines()])
    assert "AssertionError: line 2" in run(*command).stderr


def test_outputs_are_checked_by_the_lines_of_the_page(kit: Any) -> None:
    bundle = kit.bundle()
    command = (sys.executable, "-W", "ignore", "-c", block("python"), str(bundle.folder))
    output = bundle.folder / "report.json"
    output.write_bytes(output.read_bytes().replace(b"acme", b"asme"))
    assert "AssertionError: report.json" in run(*command).stderr
    output.unlink()
    assert "FileNotFoundError" in run(*command).stderr


@pytest.mark.needs("openssl")
@pytest.mark.needs("jq")
@pytest.mark.parametrize("name", [None, FILE, seal.VERDICTS, seal.PUBLIC_KEY])
def test_signature_is_checked_by_the_lines_of_the_page(kit: Any, name: str | None) -> None:
    bundle = kit.bundle()
    if name is not None:
        raw = (bundle.folder / name).read_bytes()
        place = raw.index(b'"') + 12 if b'"' in raw else 60
        (bundle.folder / name).write_bytes(
            raw[:place] + (b"A" if raw[place] != 65 else b"B") + raw[place + 1 :]
        )
    found = run("sh", "-c", block("sh"), "sh", str(bundle.folder))
    assert (found.returncode == 0) is (name is None), found.stderr


def test_page_names_every_reason_line_and_file() -> None:
    for name in (*Reason, *Kind, *seal.FILES, FILE, seal.TEST_RESULT_TYPE, seal.VERDICTS_TYPE):
        assert f"`{name}`" in PAGE or f"({name})" in PAGE, name
