"""Two runs that differ in their secrets alone leave the same outputs: none depends on a secret."""

from __future__ import annotations

import base64
import hashlib
import html
import json
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from difflib import unified_diff
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any
from urllib.parse import quote

import pytest
from warm import WARM

from gateproof.conformance.checks import checks_by_module
from gateproof.conformance.cli.outputs import write_all
from gateproof.conformance.run.context.embedded import Embedded
from gateproof.conformance.run.drive.options import RunOptions
from gateproof.conformance.run.drive.session import Sink, carry_out
from gateproof.conformance.suite import rules
from gateproof.reports import seal
from gateproof.reports.exchanges import Shown
from gateproof.reports.files import rendered
from gateproof.reports.formats import FORMATS
from gateproof.reports.record import FILE
from gateproof.reports.signing import signing_key
from gateproof.reports.verdicts import CheckResult, RuleResult, RunResult, RunVerdict, Verdict

BROKEN = Path(__file__).resolve().parents[3] / "broken_gateway.py"
DEFECTS = "aud-as-a-string+tokens-may-be-cached+merchant-token-beside-the-agents+proxy-token-type-mac"
BREAKING = ("DISC-01", "REDEEM-02")
ONE = ("REDEEM-02",)
SELECTED = {
    **dict.fromkeys(("a check", "the bench", "the judge"), ONE),
    **dict.fromkeys(("the end of a phase", "a worker"), (*BREAKING, "SECRET-03")),
}
# A picture is there only where a user stuck on a page; what must not be in one has tests of its own.
TEXTS = [name for name in FORMATS if name != "pictures"]
PASSING = ("DISC-01", "KEYS-02", "REG-01", "CLAIM-0[13]", "CODE-02", "REDEEM-0[25]")
FAILING = ("CLAIM-02", "REDEEM-01", "PROXY-04", "PROXY-10", "KEYS-04", "DISC-07")

# What is asked at one moment, or over a network that plays up, is answered in an order of its own every time.
# Between two exchanges another worker's sign-in may bring a newer merchant token; the newest is what leaks.
# Each worker has an agent that comes again and again, and one token that a refresh gave: workers decide which
# check is the first to need them.
RESTLESS = {
    "renewed_token_is_bound_to_the_resource",
    "renewed_token_holds_no_other_resource",
    "used_code_gets_no_tokens_in_another_spelling",
    "aud_holds_no_resource_that_the_form_names",
    # A race, whose rounds end when enough of them have overlapped.
    "audience_is_the_tokens_own_when_others_get_tokens_too",
}
CALM = frozenset(
    check_id
    for module, found in checks_by_module("gateway").items()
    if not module.endswith(("_races", "_network"))
    for check in found
    if check.name not in RESTLESS
    for check_id in check.ids()
)

# What differs between two honest runs: times, places, and names that the target or the run made up.
VOLATILE = [
    (r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?(Z|\+00:00)?", "TIME"),
    (r"\w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d GMT", "DATE"),
    (r"127\.0\.0\.1(:|%3A)\d{4,5}\b", "HOST"),
    (r"(prj|res|proxy|agent|grant|key|sub)_([0-9a-f]{32}\b|[0-9a-f]+…)", r"\1_ID"),
    (r"\bgateway-[0-9a-f]{16}\b", "gateway_ID"),
    (r"(\b|%2F)RUN-[0-9a-f]{12}\b", r"\1INDICATOR"),
    (r"\bg[0-9a-f]{12}\b", "UNIQUE"),
    (r"\b[0-9a-f]{8}-[0-9a-f]{4}-5[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}\b", "UUID"),
    (r"\b\d+(\.\d+)?\s(m?s|min)\b", "TOOK"),
    (r'\btime="\d+\.\d+"', "TOOK"),
    (r"\b1[7-9]\d{8}\b", "EPOCH"),
    (r"\b\d+ workers?(; all checks waited [^<]*)?", "WORKERS"),
]
# Members of JSON documents that hold how long something took, when it was, or how many workers there were.
TIMES = {"at_s", "elapsed_s", "duration_s", "time", "wait", "start", "stop", "clock_skew_s", "workers"}
# Where each line stands in the record, and the digest that follows from it.
PLACES = {"n", "prev", "exchanges"}


def breaking() -> ModuleType:
    path = Path(__file__).with_name("breaking.py")
    spec = spec_from_file_location("breaking", path)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def run(
    folder: Path,
    selection: Sequence[str],
    *,
    workers: int = 1,
    program: tuple[str, ...] = (),
    sink: Sink = lambda _: None,
) -> dict[str, list[str]]:
    """Everything that a run leaves, in every format, without what differs between two honest runs."""
    selected = rules.select(rules.load().for_role("gateway"), selection)
    target = Embedded(program=program) if program else Embedded()
    options = RunOptions(seed=5, workers=workers, chosen=CALM)
    result = carry_out(target, selected, options, sink, folder)
    result = replace(result, run={**result.run, "workers": 0})
    write_all(result, folder, list(FORMATS), signing_key(None, {}))
    names = made_up(folder)
    left: dict[str, list[str]] = {}
    for path in sorted(path for path in folder.rglob("*") if path.is_file() and path.name != seal.PUBLIC_KEY):
        left.setdefault(calm(str(path.relative_to(folder)), names), []).append("\n".join(lines(path, names)))
    return {name: "\n".join(sorted(files)).splitlines() for name, files in left.items()}


def made_up(folder: Path) -> dict[str, str]:
    """The names and digests that are this run's own, by what stands for each."""
    raw = (folder / FILE).read_bytes()
    header = json.loads(raw.partition(b"\n")[0])
    target = header["target"]
    own = {"RUN": header["run_id"], "RECORD": hashlib.sha256(raw).hexdigest()}
    own |= {name: target[name] for name in ("tls_key_digest", "discovery_digest", "configuration_digest")}
    return {value: name for name, value in own.items() if value}


def lines(path: Path, names: dict[str, str]) -> list[str]:
    """A file line by line: what is JSON in one form, and in one order where workers decide about it."""
    text = path.read_text(encoding="utf-8")
    if path.name == FILE:
        found = [json.loads(line) for line in text.splitlines()]
        told = [{key: value for key, value in line.items() if key not in PLACES} for line in found]
        # Those of one check stay in their order.
        told.sort(key=lambda line: (str(line.get("check", line.get("id", ""))), line["type"] == "check"))
        return [json.dumps(settled(line, names), ensure_ascii=False, sort_keys=True) for line in told]
    if path.name.endswith(".dsse.json"):
        payload = json.loads(base64.b64decode(json.loads(text)["payload"]))
        return json.dumps(settled(_unsigned(payload), names), indent=1, ensure_ascii=False).splitlines()
    if path.suffix in {".json", ".har", ".sarif"}:
        document = json.loads(text)
        if path.suffix == ".har":
            document["log"]["pages"].sort(key=lambda page: page["id"])
            document["log"]["entries"].sort(key=lambda entry: entry["pageref"])
        return json.dumps(settled(document, names), indent=1, ensure_ascii=False).splitlines()
    return calm(text, names).replace("><", ">\n<").splitlines()


def settled(value: Any, names: dict[str, str], under: str = "") -> Any:
    """A JSON value without what differs; names that were made up stand in no order."""
    if isinstance(value, str):
        return calm(value, names)
    if isinstance(value, list):
        each = [settled(one, names, under) for one in value]
        return sorted(set(each)) if under == "public" else each
    if isinstance(value, dict):
        kept = {key: one for key, one in value.items() if key != "waited_s"}
        return {calm(key, names): settled(one, names, key) for key, one in kept.items()}
    return "VOLATILE" if under in TIMES else value


def _unsigned(statement: Any) -> Any:
    """A statement of the seal without the digests of files that are compared anyway, and without its key."""
    for file in statement["predicate"].get("files", ()):
        del file["digest"]
        file["name"] = "/".join(re.sub(r"[0-9a-f-]{36}", "UUID", file["name"]).split("/"))
    statement["predicate"].get("files", []).sort(key=lambda file: (file["format"], file["name"]))
    statement["predicate"].pop("signer", None)
    return statement


def calm(text: str, names: dict[str, str]) -> str:
    for value, name in names.items():
        text = text.replace(value, name)
    for pattern, name in VOLATILE:
        text = re.sub(pattern, name, text)
    return text


def differences(one: dict[str, list[str]], other: dict[str, list[str]]) -> dict[str, list[str]]:
    """The first lines in which two runs' outputs differ: a whole diff of them helps nobody."""
    found = {name: _unlike(one.get(name, []), other.get(name, [])) for name in one.keys() | other.keys()}
    return {name: unlike for name, unlike in found.items() if unlike}


def _unlike(one: list[str], other: list[str]) -> list[str]:
    unlike = [line for line in unified_diff(one, other, lineterm="", n=0) if line[:3] not in {"---", "+++"}]
    return [line[:600] for line in unlike if not line.startswith("@@")][:4]


def everything(left: dict[str, list[str]]) -> str:
    return "\n".join(line for file in left.values() for line in file)


@pytest.mark.parametrize(
    ("selection", "program"),
    [(PASSING, ()), (FAILING, (*WARM, str(BROKEN), DEFECTS))],
    ids=["passing", "failing"],
)
def test_outputs_of_two_runs_are_the_same(
    selection: Sequence[str], program: tuple[str, ...], tmp_path: Path
) -> None:
    one, other = (run(tmp_path / str(number), selection, program=program) for number in (1, 2))
    assert differences(one, other) == {}
    # Where nothing failed, there is nothing to see again.
    left = [row for name, row in FORMATS.items() if name in TEXTS and (program or name != "replay")]
    assert all(row.files_in(tmp_path / "1") for row in left)


@pytest.mark.parametrize(
    ("where", "runs", "said"),
    [
        ("a check", (1, 1), "Runtime Error"),
        ("the bench", (1, 2), "RuntimeError"),
        ("the judge", (1, 2), "RuntimeError"),
        ("the collection", (2, 2), "pytest broke in a worker"),
        # What a worker keeps from check to check depends on which checks it gets.
        ("the end of a phase", (1, 1), "RuntimeError"),
        ("the end of a phase", (2,), "RuntimeError"),
        ("a worker", (2,), "answers that were not searched for secrets"),
    ],
)
def test_fault_of_the_harness_shows_nothing_that_it_met(
    where: str,
    runs: tuple[int, ...],
    said: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    faults = breaking()
    monkeypatch.setattr(*faults.FAULTS[where])
    monkeypatch.setenv("PYTHONPATH", faults.in_workers(where, tmp_path / "site"))
    selection = SELECTED.get(where, BREAKING)
    left = [run(tmp_path / str(number), selection, workers=workers) for number, workers in enumerate(runs)]
    assert any(said in line for line in left[0]["report.json"])
    assert faults.TEXT not in everything(left[0]) + "".join(capfd.readouterr())
    assert differences(left[0], left[-1]) == {}


def test_fault_of_whoever_listens_shows_nothing_that_it_met(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    faults, heard = breaking(), []

    def listening(result: CheckResult) -> None:
        heard.append(result)
        if len(heard) % 3 == 0:
            faults.broken(result)

    one, other = (run(tmp_path / name, BREAKING, sink=listening) for name in ("one", "other"))
    assert any("RuntimeError" in line for line in one["report.json"])
    assert faults.TEXT not in everything(one) + "".join(capfd.readouterr())
    assert differences(one, other) == {}


# Encodings in which a secret may get into an output, each of which has to show as a difference.
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
# Of 32 characters, so that hexadecimal looks like a digest.
SECRETS = ("kV3tQ9zLw8Rb2Np5Xc7Yd1Mf4hJ6sG0u", "hJ6sG0uTe3Ka8Vz2Wq5Bn9Pr7kV3tQ9z")


def leaking(leaked: str) -> RunResult:
    """A run that failed, and shows something wherever a run can show anything."""
    shown = Shown(
        step="redeem",
        method="GET",
        url=f"https://127.0.0.1:8443/?a={leaked}",
        status=401,
        answer_headers=(("X-Debug", leaked),),
        answer_body=leaked,
    )
    check = CheckResult(
        id="REDEEM-05/a",
        rule="REDEEM-05",
        verdict=Verdict.FAILED,
        message=f"it said {leaked}",
        got=leaked,
        replay={"kind": "history", "told": leaked},
        exchanges=(shown,),
    )
    rule = RuleResult(
        id="REDEEM-05",
        level="spec",
        title="t",
        section="s",
        verdict=Verdict.FAILED,
        reason=f"it said {leaked}",
        checks=(check,),
    )
    return RunResult(
        role="gateway",
        verdict=RunVerdict.NOT_CONFORMANT,
        reason=f"it said {leaked}",
        rules=(rule,),
        target={"name": "n", "version": "1"},
        run={"started": "2026-11-21T10:00:00+00:00", "seed": 1, "run_id": "0a1b2c3d"},
    )


@pytest.mark.parametrize("encode", ENCODINGS.values(), ids=ENCODINGS)
@pytest.mark.parametrize("name", TEXTS)
def test_planted_leak_shows_as_a_difference(name: str, encode: Callable[[str], str], tmp_path: Path) -> None:
    """The same run with one secret or the other in it gives other outputs, whatever was done to it."""
    drawn: list[dict[str, list[str]]] = []
    for secret in SECRETS:
        files = rendered(leaking(encode(secret)), [name])[name]
        drawn.append({})
        for path, content in files.items():
            (tmp_path / Path(path).name).write_bytes(content)
            drawn[-1][path] = lines(tmp_path / Path(path).name, {})
    assert differences(*drawn) != {}


@pytest.mark.parametrize("encode", ENCODINGS.values(), ids=ENCODINGS)
def test_planted_leak_shows_in_a_record(encode: Callable[[str], str], tmp_path: Path) -> None:
    line = {"type": "check", "id": "REDEEM-05/a", "message": "", "public": []}
    for place in ("message", "public"):
        read = []
        for secret in SECRETS:
            said = [encode(secret)] if place == "public" else encode(secret)
            (tmp_path / FILE).write_text(json.dumps({**line, place: said}), encoding="utf-8")
            read.append(lines(tmp_path / FILE, {}))
        assert read[0] != read[1]
