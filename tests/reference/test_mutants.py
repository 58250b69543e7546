"""A mutant is the reference in which one function has other code, for everybody who holds it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gateproof.reference import ids
from gateproof.reference.mutants.__main__ import NOT_MADE, change, main

SOURCE = Path(ids.__file__).read_text(encoding="utf-8")


def test_changed_function_is_the_same_object(monkeypatch: pytest.MonkeyPatch) -> None:
    held = ids.fingerprint
    before, code = held("a"), held.__code__
    changed = SOURCE.replace(
        "def fingerprint(", "def fingerprint(text):\n    return 'changed'\n\n\ndef _was("
    )

    change(module=ids.__name__, function="fingerprint", source=changed)
    try:
        assert held("a") == "changed" != before
    finally:
        held.__code__ = code
    assert held("a") == before


@pytest.mark.parametrize(
    ("function", "source"),
    [("nobody", SOURCE), ("fingerprint", "x = 1"), ("fingerprint", "def fingerprint(")],
)
def test_change_that_cannot_be_made_is_told(
    function: str, source: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "mutant.json"
    file.write_text(json.dumps({"module": ids.__name__, "function": function, "source": source}))

    assert main(["gateway", str(file)]) == NOT_MADE
    assert capsys.readouterr().err.startswith("reference mutants: ")


def test_wrong_usage_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["nobody"]) == 2
    assert "usage" in capsys.readouterr().err
