"""Two runs that differ in their secrets alone leave the same outputs: none depends on a secret."""

from __future__ import annotations

import base64
import html
import json
import re
from collections.abc import Callable
from dataclasses import replace
from difflib import unified_diff
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from conformance import rules
from conformance.cli.outputs import write_all
from conformance.gateway import Gateway
from conformance.run.embedded import Embedded
from conformance.run.options import RunOptions
from conformance.run.session import carry_out
from conformance.run.subjects import Subject
from reports.files import rendered
from reports.formats import FORMATS
from reports.record import FILE, read, result_of
from reports.signing import signing_key
from reports.verdicts import RunResult

RULES = (
    "DISC-0[1-3]",
    "KEYS-02",
    "REG-01",
    "REG-10",
    "CLAIM-0[1-3]",
    "AUTHZ-01",
    "CODE-0[12]",
    "REDEEM-0[1-5]",
)
# What differs between two honest runs: times, ports, names that the target or the run made up, digests.
VOLATILE = [
    (r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?(Z|\+00:00)?", "TIME"),
    (r"\w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d GMT", "DATE"),
    (r"127\.0\.0\.1(:|%3A)\d+", "HOST"),
    (r"(prj|res|proxy|agent|grant|sub|gateway)[_-][0-9a-f]{8,}", r"\1_ID"),
    (r"/v[12]/[0-9a-f]{8}-[0-9a-f]{12}", "/INDICATOR"),
    (r"\bg[0-9a-f]{12}\b", "UNIQUE"),
    (r"\b[0-9a-f]{64}\b", "DIGEST"),
    (r"\b[0-9a-f]{8}-[0-9a-f]{4}-5[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}", "UUID"),
    (r"\b[0-9a-f]{8}\b", "RUN"),
    (r"sha256-[A-Za-z0-9+/=]{44}", "HASH"),
    (r"\b\d+(\.\d+)? m?s\b", "TOOK"),
    (r"\b\d+\.\d+\b", "SECONDS"),
    (r"\b1[0-9]{12}\b", "MILLISECONDS"),
    # The fake merchant varies shape and length of its tokens with the client, whose name is made up anew.
    (r"(opaque|jwt)~\d+(:|%3A)\d+", "MARK"),
    (r"\b1[7-9]\d{8}\b", "EPOCH"),
    (r'"workers": \d+', "WORKERS"),
    # Where a long address was cut depends on the length of what stands in it.
    (r"[^\s>]*…[^\s<]*", "CUT"),
    (r"content-length: \d+", "content-length"),
    (r"later than \d{10}", "later than NOW"),
    (r"got \d{10}\b", "got NOW"),
]


def normalised(path: Path) -> list[str]:
    text = path.read_text(encoding="utf-8")
    if path.name == FILE:
        return sorted(_without_order(json.loads(line)) for line in text.splitlines())
    return sorted(
        line
        for line in _calm(text).replace("><", ">\n<").replace("}, {", "},\n{").splitlines()
        if line.strip(" ,")
    )


def differences(one: list[str], other: list[str]) -> list[str]:
    """The first lines in which two outputs differ: a whole diff of them helps nobody."""
    unlike = [line for line in unified_diff(one, other, lineterm="", n=0) if line[:3] not in {"---", "+++"}]
    return [line[:300] for line in unlike if not line.startswith("@@")][:4]


def _without_order(line: dict[str, Any]) -> str:
    unordered = {"n", "prev", "exchanges", "at_s", "elapsed_s", "duration_s", "public", "workers"}
    return _calm(
        json.dumps(
            {key: value for key, value in line.items() if key not in unordered},
            sort_keys=True,
            ensure_ascii=False,
        )
    )


def _calm(text: str) -> str:
    for pattern, name in VOLATILE:
        text = re.sub(pattern, name, text)
    return text


def run(folder: Path, *, subject: Subject | None, workers: int) -> dict[str, list[str]]:
    target = Embedded() if subject is None else Embedded(program=subject.program("gateway"))
    selected = rules.select(rules.load().for_role("gateway"), RULES)
    options = RunOptions(seed=5, workers=workers)
    result = carry_out(target, selected, options, lambda _: None, folder)
    write_all(
        replace(result, run={**result.run, "workers": 0}),
        folder,
        ["json", "html", "junit", "summary"],
        signing_key(None, {}),
    )
    kept = [path for path in folder.rglob("*") if path.is_file() and not path.name.startswith("seal.")]
    return {str(path.relative_to(folder)): normalised(path) for path in kept}


def a_defect() -> Subject:
    from conformance.run.subjects import subjects  # noqa: PLC0415

    return next(subject for subject in subjects("gateway") if "CLAIM-02" in subject.rules[:1])


@pytest.mark.parametrize("broken", [False, True], ids=["conformant", "broken"])
def test_outputs_of_two_runs_are_the_same(broken: bool, tmp_path: Path) -> None:
    subject = a_defect() if broken else None
    one = run(tmp_path / "one", subject=subject, workers=1)
    other = run(tmp_path / "other", subject=subject, workers=2)
    assert one.keys() == other.keys()
    for name, lines in one.items():
        assert differences(lines, other[name]) == [], name


def test_outputs_of_two_runs_with_a_broken_check_are_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def breaking(self: Gateway, *arguments: object, **named: object) -> None:
        raise RuntimeError(f"a library's text with {arguments} {named} in it")

    monkeypatch.setattr(Gateway, "redeem", breaking)
    outputs = [run(tmp_path / name, subject=None, workers=1) for name in ("one", "other")]
    assert any("RuntimeError" in line for line in outputs[0]["report.json"])
    for name, lines in outputs[0].items():
        assert differences(lines, outputs[1][name]) == [], name


ENCODINGS: dict[str, Callable[[str], str]] = {
    "raw": str,
    "percent": lambda text: quote(text, safe="").replace("-", "%2D"),
    "base64": lambda text: base64.b64encode(text.encode()).decode(),
    "base64url": lambda text: base64.urlsafe_b64encode(b"x" + text.encode()).decode(),
    "hex": lambda text: text.encode().hex(),
    "upper case": str.upper,
    "reversed": lambda text: text[::-1],
    "HTML": lambda text: html.escape("".join(f"&#{ord(char)};" for char in text)),
}


@pytest.mark.parametrize("encode", ENCODINGS.values(), ids=ENCODINGS)
def test_planted_leak_shows_as_a_difference(encode: Callable[[str], str], tmp_path: Path) -> None:
    """The same result with one secret or the other in it gives other outputs, whatever was done to it."""
    selected = rules.select(rules.load().for_role("agent"), ["AGENT-01"])
    honest = carry_out(Embedded(), selected, RunOptions(role="agent"), lambda _: None, tmp_path)
    assert result_of(read(tmp_path / FILE)) == honest

    def leaking(secret: str) -> RunResult:
        rule = replace(honest.rules[0], reason=f"it said {encode(secret)}")
        return replace(honest, rules=(rule,))

    secrets = ("kV3tQ9zLw8Rb2Np5Xc7Yd1Mf4", "hJ6sG0uTe3Ka8Vz2Wq5Bn9Pr7")
    drawn = [rendered(leaking(secret), ["json", "html", "junit", "summary"]) for secret in secrets]
    for name in drawn[0]:
        for path in drawn[0][name]:
            (tmp_path / "a").write_bytes(drawn[0][name][path])
            (tmp_path / "b").write_bytes(drawn[1][name][path])
            assert normalised(tmp_path / "a") != normalised(tmp_path / "b"), path


def test_every_format_is_known_here() -> None:
    assert {"json", "html", "junit", "summary"} <= set(FORMATS)
