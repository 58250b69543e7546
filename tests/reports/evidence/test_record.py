"""A record says what a run found, whole line by whole line, and everything else is drawn from it."""

from __future__ import annotations

import hashlib
import json
import os
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gateproof.reports import evidence, leaks
from gateproof.reports.chain import encode, plain
from gateproof.reports.evidence import EvidenceWriter, LeakFound
from gateproof.reports.record import FILE, Unreadable, read, result_of
from gateproof.reports.summary_texts import caveats
from gateproof.reports.verdicts import CheckResult, Reason, RunVerdict, Verdict

ROOT = Path(__file__).resolve().parents[3]


def test_every_line_carries_the_digest_of_the_bytes_before_it(kit: Any) -> None:
    before = "0" * 64
    for number, line in enumerate(kit.record().read_bytes().splitlines(keepends=True)):
        values = json.loads(line)
        assert (values["n"], values["prev"]) == (number, before)
        compact = json.dumps(values, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        assert line == f"{compact}\n".encode()
        before = hashlib.sha256(line).hexdigest()


def test_exchanges_stand_before_the_check_that_names_them(kit: Any) -> None:
    values = kit.values(kit.record())
    assert [line["type"] for line in values] == [
        "header", "check", "exchange", "exchange", "check", "check", "exchange", *["check"] * 4, "footer",
    ]  # fmt: skip
    assert values[4]["exchanges"] == [2, 3]
    assert {values[2]["check"], values[3]["check"]} == {"REDEEM-05/broken"}


def test_check_line_says_rule_section_level_verdict_and_reason(kit: Any) -> None:
    line = kit.values(kit.record())[8]
    named = {key: line[key] for key in ("id", "rule", "section", "level", "verdict", "reason", "blocking")}
    assert named == {
        "id": "CODE-02/unmet",
        "rule": "CODE-02",
        "section": "4.2",
        "level": "entailed",
        "verdict": "not-testable",
        "reason": "control-unsupported",
        "blocking": True,
    }
    assert (line["faults"], line["example"], line["replay"]) == ([], None, None)


def test_only_names_that_were_shown_are_listed_as_allowed(kit: Any) -> None:
    line = kit.values(kit.record())[4]
    assert line["public"] == [kit.public_name]


def test_footer_counts_what_was_found(kit: Any) -> None:
    footer = kit.values(kit.record())[-1]
    assert footer["counts"] == {
        "passed": 1, "failed": 2, "not-testable": 2, "not-applicable": 0, "observed": 1, "error": 1,
    }  # fmt: skip
    assert (footer["planned"], footer["executed"], footer["verdict"]) == (7, 7, "not-conformant")


def test_record_gives_back_what_was_written(kit: Any) -> None:
    record = read(kit.record())
    result = result_of(record)
    assert record.header == kit.header()
    assert record.faults == ()
    found = {check.id: check for rule in result.rules for check in rule.checks}
    for check in kit.checks():
        public = (kit.public_name,) if check.exchanges else ()
        assert found[check.id] == replace(check, public=public)
    assert [rule.id for rule in result.rules] == [rule.id for rule in kit.plan()]
    assert result.verdict is RunVerdict.NOT_CONFORMANT
    assert result.run["complete"] is True
    assert (
        result.run["evidence_digest"] == hashlib.sha256((kit.folder / "run" / FILE).read_bytes()).hexdigest()
    )


@pytest.mark.parametrize(
    ("ended", "cut_short", "verdict", "said"),
    [
        (True, "", RunVerdict.NO_VERDICT, "the check did not run"),
        (True, "the target is unreachable; try doctor", RunVerdict.NO_VERDICT, "the target is unreachable"),
        (
            False,
            "",
            RunVerdict.NO_VERDICT,
            "the run was killed or crashed: its record has no footer",
        ),
    ],
)
def test_check_that_did_not_run_is_not_testable(
    kit: Any, ended: bool, cut_short: str, verdict: RunVerdict, said: str
) -> None:
    result = kit.result(checks=(), ended=ended, cut_short=cut_short)
    assert result.verdict is verdict
    (check,) = result.rules[1].checks
    assert (check.verdict, check.reason) == (Verdict.NOT_TESTABLE, Reason.NOT_RUN)
    assert check.message == f"not run: {said}"


def test_record_without_footer_is_incomplete_and_still_tells_what_was_seen(kit: Any) -> None:
    result = kit.result(ended=False)
    assert (result.run["complete"], result.verdict) == (False, RunVerdict.NOT_CONFORMANT)
    passed = kit.result("other", checks=kit.checks()[:1], ended=False)
    assert (passed.run["complete"], passed.verdict) == (False, RunVerdict.NO_VERDICT)
    assert "killed" in passed.reason


def test_every_attempt_counts_and_the_worst_decides(kit: Any) -> None:
    passed = kit.checks()[0]
    lost = replace(passed, verdict=Verdict.ERROR, reason=Reason.WORKER_LOST, message="the worker died")
    rule = kit.result(checks=(passed, lost)).rules[0]
    assert [check.verdict for check in rule.checks[:2]] == [Verdict.PASSED, Verdict.ERROR]
    assert rule.verdict is Verdict.ERROR


HOSTILE = {
    "lone": "\ud800 and \udfff",
    "endings": "\u2028\u2029\x00\x1b[2J\r\n",
    "numbers": [float("nan"), float("inf"), 10**30, -0.0, 1e-9],
    "\udcff": {"": None, "true": True},
}


def test_whatever_a_target_says_can_be_written_and_read(kit: Any) -> None:
    deep: Any = "bottom"
    for _ in range(5000):
        deep = [deep]
    check = CheckResult(
        id="META-02/seen", rule="META-02", verdict=Verdict.OBSERVED, observations={**HOSTILE, "deep": deep}
    )
    record = read(kit.record(checks=(check,)))
    assert record.faults == ()
    (line,) = record.checks.values()
    assert line.observations["lone"] == "\ufffd and \ufffd"
    assert line.observations["endings"] == HOSTILE["endings"]
    assert line.observations["numbers"][:3] == ["nan", "inf", 10**30]


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(codec=None)),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
        max_leaves=10,
    )
)
def test_every_json_value_has_one_written_form(value: Any) -> None:
    line = encode({"value": plain(value)})
    assert line.endswith(b"\n")
    assert line.count(b"\n") == 1
    assert encode(json.loads(line)) == line


def test_no_second_run_is_written_into_an_open_record(kit: Any) -> None:
    first = kit.record()
    held = first.open("rb")
    with held:
        kit.record(checks=())
        assert len(held.read().splitlines()) == 12


def test_record_does_not_follow_a_link(kit: Any, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.write_text("mine")
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / FILE).symlink_to(elsewhere)
    kit.record()
    assert elsewhere.read_text() == "mine"


def test_planned_checks_without_a_line_are_counted(kit: Any, tmp_path: Path) -> None:
    with EvidenceWriter(tmp_path / FILE, scan=lambda _: None) as writer:
        assert writer.missing() == 0
        writer.header(kit.header())
        missing = writer.missing()
        for check in kit.checks():
            writer.check(check)
            writer.check(check)
        assert (missing, writer.missing()) == (len({each.id for each in kit.checks()}), 0)


def test_line_with_a_secret_is_not_written(kit: Any, tmp_path: Path) -> None:
    def scan(text: str) -> str | None:
        return "merchant token" if "hush" in text else None

    broken = kit.checks()[1]
    leaking = replace(broken, exchanges=(kit.exchange(), kit.exchange(answer_body="is hush there")))
    path = tmp_path / FILE
    with EvidenceWriter(path, scan=scan) as writer:
        writer.header(kit.header())
        before = path.read_bytes()
        with pytest.raises(LeakFound, match=r"a merchant token is in exchange answer_body") as leak:
            writer.check(leaking)
        assert "hush" not in str(leak.value)
        assert path.read_bytes() == before
        writer.check(broken)
        writer.footer(duration_s=1.0)
    assert read(path).faults == ()


@pytest.mark.parametrize("place", ["message", "observations", "key", "step", "header"])
def test_every_text_of_every_line_is_scanned(kit: Any, tmp_path: Path, place: str) -> None:
    secret = 'hu"sh\\'
    check = kit.checks()[1]
    leaking = {
        "message": replace(check, message=secret),
        "observations": replace(check, observations={"a": [{"b": secret}]}),
        "key": replace(check, observations={"a": {secret: 1}}),
        "step": replace(check, exchanges=(kit.exchange(step=secret),)),
    }
    with EvidenceWriter(tmp_path / FILE, scan=lambda text: "key" if secret in text else None) as writer:
        if place == "header":
            with pytest.raises(LeakFound):
                writer.header(kit.header(os=secret))
        else:
            writer.header(kit.header())
            with pytest.raises(LeakFound):
                writer.check(leaking[place])


def test_neighbours_make_no_secret_together(kit: Any, tmp_path: Path) -> None:
    seen = {"kind": "bearer", "next": kit.public_name}
    check = replace(kit.checks()[-1], observations=seen, public=(kit.public_name,))
    with EvidenceWriter(tmp_path / FILE, scan=leaks.credential_kind) as writer:
        writer.header(kit.header())
        writer.check(check)


def test_each_execution_of_a_check_has_its_own_public_names(kit: Any, tmp_path: Path) -> None:
    """As on two workers, each with a gateway of its own."""
    broken = next(check for check in kit.checks() if check.id == "REDEEM-05/broken")
    names = ("res_0123456789abcdef01", "res_fedcba9876543210fe")
    with EvidenceWriter(tmp_path / FILE, scan=leaks.credential_kind) as writer:
        writer.header(kit.header())
        for name in names:
            shown = kit.exchange("sign in", url=f"https://gateway.test/{name}/oauth2/auth")
            writer.check(replace(broken, exchanges=(shown,), public=(kit.public_name, name)))

    record = read(tmp_path / FILE)
    assert list(leaks.unmasked(record)) == []
    unnamed = replace(record, checks={n: replace(line, public=()) for n, line in record.checks.items()})
    assert len({number for number, place in leaks.unmasked(unnamed) if place == "url"}) == len(names)


def test_scan_that_breaks_lets_nothing_through(kit: Any, tmp_path: Path) -> None:
    def scan(_: str) -> str | None:
        raise RuntimeError("out of order")

    with (
        EvidenceWriter(tmp_path / FILE, scan=scan) as writer,
        pytest.raises(RuntimeError, match="out of order"),
    ):
        writer.header(kit.header())
    assert (tmp_path / FILE).read_bytes() == b""


def test_disk_is_asked_to_keep_the_lines_now_and_then_and_at_the_end(
    kit: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced, now = [], [0.0]
    monkeypatch.setattr(evidence.os, "fsync", synced.append)
    with EvidenceWriter(tmp_path / FILE, scan=kit.no_leak, clock=lambda: now[0]) as writer:
        writer.header(kit.header())
        assert not synced
        now[0] = 60.0
        writer.check(kit.checks()[0])
        writer.check(kit.checks()[2])
        assert len(synced) == 1
        writer.footer(duration_s=1.0)
        assert len(synced) == 2


def test_record_cut_at_any_byte_gives_its_whole_lines(kit: Any, tmp_path: Path) -> None:
    whole = kit.record().read_bytes()
    header = whole.index(b"\n") + 1
    path = tmp_path / FILE

    @settings(max_examples=60)
    @given(st.integers(0, len(whole) - 1))
    def cut(length: int) -> None:
        path.write_bytes(whole[:length])
        if length < header:
            with pytest.raises(Unreadable):
                read(path)
            return
        record = read(path)
        rest = whole[:length].rpartition(b"\n")[2]
        assert [(fault.torn, fault.line) for fault in record.faults] == (
            [(True, record.lines)] if rest else []
        )
        assert record.lines == whole[:length].count(b"\n") + bool(rest)
        assert record.footer is None
        assert result_of(record).run["complete"] is False

    cut()


ENDLESS = """
import importlib.util, sys
from pathlib import Path
spec = importlib.util.spec_from_file_location("kit", sys.argv[1])
kit = importlib.util.module_from_spec(spec)
sys.modules["kit"] = kit
spec.loader.exec_module(kit)
with kit.EvidenceWriter(Path(sys.argv[2]), scan=kit.no_leak) as writer:
    writer.header(kit.make_header())
    for _ in range(1_000_000):
        for check in kit.make_checks():
            writer.check(check)
"""


def test_killed_run_leaves_what_it_has_seen(kit: Any, tmp_path: Path) -> None:
    path = tmp_path / FILE
    conftest = str(Path(__file__).with_name("conftest.py"))
    command = [sys.executable, "-c", ENDLESS, conftest, str(path)]
    with subprocess.Popen(command, cwd=ROOT, stderr=subprocess.PIPE) as process:
        while process.poll() is None and (not path.exists() or path.stat().st_size < 100_000):
            os.sched_yield()
        process.send_signal(signal.SIGKILL)
        assert process.wait(30) == -signal.SIGKILL
    record = read(path)
    assert [fault for fault in record.faults if not fault.torn] == []
    result = result_of(record)
    assert (result.run["complete"], result.counts["failed"]) == (False, 2)


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"schema": "gateproof/evidence/2"}, "schema"),
        ({"surprise": 1}, "surprise: unknown key"),
        ({"spec": None}, "header.spec: found nothing, expected an object"),
        ({"started": "yesterday"}, "a date or time"),
        ({"run_id": 7}, "header.run_id: found a number, expected a text"),
        ({"clock_skew_s": True}, "header.clock_skew_s: found true or false, expected a number"),
        ({"planned": [{}]}, r"header.planned\[0\].checks: missing"),
    ],
)
def test_header_of_another_shape_is_refused(kit: Any, change: dict[str, Any], text: str) -> None:
    path = kit.record()
    first, _, rest = path.read_bytes().partition(b"\n")
    path.write_bytes(encode({**json.loads(first), **change}) + rest)
    with pytest.raises(Unreadable, match=text):
        read(path)


def test_record_from_before_it_said_so_says_nothing_of_faults_and_examples(kit: Any) -> None:
    said = kit.bundle("new")
    assert (read(said.evidence).header.options.faults, result_of(read(said.evidence)).run["examples"]) == (
        True,
        20,
    )

    older = kit.bundle("older", faults=None, examples=None)
    older.forge(lambda lines: [without(lines[0], "faults", "examples"), *lines[1:]])
    older.draw()
    assert older.first() == ""
    result = result_of(read(older.evidence))
    assert not {"faults", "examples"} & result.run.keys()
    assert caveats(result) == caveats(result_of(read(said.evidence)))


def without(header: dict[str, Any], *names: str) -> dict[str, Any]:
    options = {name: value for name, value in header["options"].items() if name not in names}
    return {**header, "options": options}


@pytest.mark.parametrize(
    "raw", [b"", b"\n", b"not json\n", b"[]\n", b'{"n":0}\n', b"[" * 100_000, b"\xff\xfe"]
)
def test_file_that_is_no_record_says_so(tmp_path: Path, raw: bytes) -> None:
    path = tmp_path / FILE
    path.write_bytes(raw)
    with pytest.raises(Unreadable):
        read(path)
