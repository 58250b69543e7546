"""Rows of defects and variants are parsed, and collected from the modules of a package by unique names."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest

from gateproof.reference.deviations.deviation import collected, parsed


@pytest.mark.parametrize(
    ("row", "name", "rules"),
    [
        ("one-thing (REG-03 REG-02): It is wrong: very.", "one-thing", ("REG-03", "REG-02")),
        ("http-1.0: It answers in HTTP/1.0 (RFC 1945).", "http-1.0", ()),
    ],
)
def test_row_is_parsed(row: str, name: str, rules: tuple[str, ...]) -> None:
    assert parsed(row)[:2] == (name, rules)


@pytest.mark.parametrize("row", ["one-thing", "one thing: Two words.", "one-thing (reg-03): Lower case."])
def test_row_of_another_form_is_refused(row: str) -> None:
    with pytest.raises(ValueError, match="not of the form"):
        parsed(row)


def test_name_in_two_modules_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "rows_of_a_test"
    package.mkdir()
    (package / "__init__.py").touch()
    for module in ("first", "second"):
        (package / f"{module}.py").write_text(
            "from types import SimpleNamespace\nROWS = (SimpleNamespace(name='same'),)\n"
        )
    monkeypatch.syspath_prepend(str(tmp_path))

    with pytest.raises(ValueError, match="same stands in second"):
        collected("rows_of_a_test", [str(package)], "ROWS", SimpleNamespace)
