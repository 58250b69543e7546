"""With `--trace` each request says to which check it belongs; with `--events` each result is told at once."""

from __future__ import annotations

import json
import re
import sys
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import pytest
from static_projects import static_project

from gateproof.conformance.cli import main
from gateproof.conformance.kit.agent.browser import Courier
from gateproof.conformance.wire.tracing import Tracing, trace_id_of

sys.path.insert(0, str(Path(__file__).parents[1] / "run"))
from dead_answers import always, serving

TARGET = """
[target]
role = "gateway"
name = "dead"
version = "0"
base_url = "{url}"
core_url = "{url}"
"""
# What a run asks before its first check, to see whether there is a target.
BEFORE = 2
Ran = Callable[..., tuple[int, list[dict[str, str]]]]


@pytest.fixture
def ran(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Ran:
    """Runs one rule against a gateway that answers 404 to everything; returns the headers that it got."""

    monkeypatch.setenv("PROXY_1_SECRET", "a-secret-of-a-dead-target")

    def run(*options: str) -> tuple[int, list[dict[str, str]]]:
        heard: list[dict[str, str]] = []

        def say(to: BaseHTTPRequestHandler, sent: bytes) -> None:
            heard.append({name.lower(): value for name, value in to.headers.items()})
            always(404)(to, sent)

        file = tmp_path / "target.toml"
        with serving(say) as url:
            file.write_text(TARGET.format(url=url) + static_project(url))
            command = ["run", "--target", str(file), "--only", "DISC-01", "--out", str(tmp_path / "out")]
            return main([*command, "--quiet", *options]), heard

    return run


def test_requests_name_their_check(ran: Ran, tmp_path: Path) -> None:
    code, heard = ran("--trace")
    report = json.loads((tmp_path / "out" / "report.json").read_text())
    failed = {check["id"]: check for rule in report["rules"] for check in rule["checks"]}
    told = [headers for headers in heard if "x-gateproof-check" in headers]

    assert code == 1
    assert {headers["x-gateproof-check"] for headers in told} <= failed.keys()
    assert told
    spans = [re.fullmatch(r"00-([0-9a-f]{32})-([0-9a-f]{16})-01", headers["traceparent"]) for headers in told]
    assert all(spans)
    assert len({span[2] for span in spans if span}) == len(told)
    traces = {
        headers["x-gateproof-check"]: span[1] for headers, span in zip(told, spans, strict=True) if span
    }
    for check_id, trace_id in traces.items():
        assert failed[check_id]["observations"]["trace_id"] == trace_id
    assert report["run"]["trace"] is True


def test_requests_name_nothing_unless_told_so(ran: Ran) -> None:
    _, heard = ran()
    assert len(heard) > BEFORE
    assert not any({"x-gateproof-check", "traceparent"} & headers.keys() for headers in heard)


def test_each_check_of_each_run_is_a_trace_of_its_own() -> None:
    ids = {trace_id_of(run, check) for run in ("a", "b") for check in ("X-01/a", "X-01/b")}
    tracing = Tracing("a")
    assert len(ids) == 4
    assert tracing.headers() == {}
    tracing.begin("X-01/a[ü, \r\n]")
    assert tracing.headers()["X-Gateproof-Check"] == "X-01/a[%C3%BC,%20%0D%0A]"


def test_certificate_is_for_a_target_that_is_not_told(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "--certify", "--trace"]) == 2
    assert "leave out --trace" in capsys.readouterr().err


def test_agent_is_told_with_the_redirect(tmp_path: Path) -> None:
    """No other request goes to an agent."""
    heard: list[dict[str, str]] = []

    def say(to: BaseHTTPRequestHandler, sent: bytes) -> None:
        heard.append({name.lower(): value for name, value in to.headers.items()})
        always(200)(to, sent)

    tracing = Tracing("a")
    tracing.begin("AGENT-01/x")
    with serving(say) as url:
        assert Courier(threading.Event(), tracing).bring(f"{url}/callback?code=1") == 200
    assert [headers["x-gateproof-check"] for headers in heard] == ["AGENT-01/x"]


def test_each_result_is_an_event(ran: Ran, tmp_path: Path) -> None:
    file = tmp_path / "events.jsonl"
    ran("--events", str(file))
    ran("--events", str(file))
    events = [json.loads(line) for line in file.read_text().splitlines()]
    report = json.loads((tmp_path / "out" / "report.json").read_text())
    checks = {check["id"]: check["verdict"] for rule in report["rules"] for check in rule["checks"]}

    assert [each["event"] for each in events] == ["run-started", *["check"] * len(checks), "run-ended"]
    assert {each["check"]: each["verdict"] for each in events[1:-1]} == checks
    assert {each["schema"] for each in events} == {"gateproof/events/1"}
    assert events[0]["checks"] == len(checks)
    assert (events[-1]["verdict"], events[-1]["counts"]) == (report["verdict"], report["counts"])


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no disk that is always full")
def test_full_disk_of_events_does_not_end_the_run(ran: Ran, capsys: pytest.CaptureFixture[str]) -> None:
    code, heard = ran("--events", "/dev/full")
    assert (code, len(heard) > BEFORE) == (1, True)
    assert "the run went on without it" in capsys.readouterr().err


def test_report_folder_is_no_place_for_events(
    ran: Ran, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, _ = ran("--events", str(tmp_path / "out" / "events.jsonl"))
    assert code == 2
    assert "choose another folder" in capsys.readouterr().err


def test_file_of_somebody_else_is_no_place_for_events(
    ran: Ran, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "notes.txt"
    file.write_text("mine")
    code, heard = ran("--events", str(file))

    assert (code, heard, file.read_text()) == (2, [], "mine")
    assert "choose another name" in capsys.readouterr().err
