"""A run that is stopped in the middle says what it has seen, and leaves nothing running."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from waiting import alive
from warm import WARM

from gateproof.conformance.wire.ports import free_ports

pytestmark = pytest.mark.attack

# Answers 404 to everything, slowly, from a grandchild; both note their process IDs.
SERVER = """
import http.server, os, pathlib, subprocess, sys, time
port, folder = int(sys.argv[1]), pathlib.Path(sys.argv[2])
if len(sys.argv) == 3:
    child = subprocess.Popen([sys.executable, __file__, *sys.argv[1:], "serve"])
    (folder / "pids").write_text(f"{os.getpid()} {child.pid}")
    child.wait()
class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def do_GET(self):
        self.rfile.read(int(self.headers.get("Content-Length") or 0))
        time.sleep(0.1)
        with (folder / "requests").open("a") as seen:
            seen.write("x")
        self.send_response(404)
        self.send_header("Content-Length", "0")
        self.end_headers()
    do_POST = do_GET
    def log_message(self, *_):
        pass
http.server.ThreadingHTTPServer(("127.0.0.1", port), Handler).serve_forever()
"""
TARGET = """
[target]
role = "gateway"
name = "slow"
version = "0"
base_url = "http://127.0.0.1:{port}"
core_url = "http://127.0.0.1:{port}"
[launch]
command = ["{python}", "server.py", "{port}", "."]
"""


@pytest.mark.usefixtures("hang_up_heard")
@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize("stop", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_stopped_run_reports_and_cleans_up(stop: signal.Signals, workers: int, tmp_path: Path) -> None:
    port = free_ports(1)[0]
    (tmp_path / "server.py").write_text(SERVER)
    (tmp_path / "target.toml").write_text(TARGET.format(port=port, python=sys.executable))
    command = [
        sys.executable,
        "-m",
        "gateproof",
        "run",
        "--target",
        "target.toml",
        "--workers",
        str(workers),
    ]
    with (tmp_path / "output").open("w") as output:
        process = subprocess.Popen(
            command, cwd=tmp_path, stdout=output, stderr=output, start_new_session=True
        )
        try:
            deadline = time.monotonic() + 60
            while time.monotonic() < deadline and process.poll() is None:
                if (tmp_path / "requests").exists() and (tmp_path / "requests").stat().st_size > 12:
                    break
                time.sleep(0.02)
            process.send_signal(stop)
            code = process.wait(30)
        finally:
            process.kill()

    said = (tmp_path / "output").read_text()
    report = json.loads((tmp_path / "gateproof-report" / "report.json").read_text())
    assert code in {1, 3}, said
    assert "Traceback" not in said
    assert report["run"]["complete"] is False
    ran = [check for rule in report["rules"] for check in rule["checks"] if check["duration_s"]]
    assert ran, "what was seen before is reported"
    named = "Ctrl-C" if stop is signal.SIGINT else stop.name
    assert report["run"]["cut_short"] == f"the run was stopped by {named}"
    waiting = [rule for rule in report["rules"] if "stopped by" in rule["reason"]]
    assert waiting, "what was not reached is named"
    verified = subprocess.run(
        [*WARM, "gateproof", "verify", "gateproof-report"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert verified.returncode == 0, verified.stdout + verified.stderr
    assert not any(alive(int(pid)) for pid in (tmp_path / "pids").read_text().split())


HALF_MADE = """
import os, signal
from gateproof.conformance.run.drive.signals import terminated_as_interrupted

class Half:
    def __init__(self):
        os.kill(os.getpid(), signal.SIGTERM)
        self.closed = False
    def __del__(self):
        self.closed

class Broken:
    def __del__(self):
        raise ValueError("is still told")

try:
    with terminated_as_interrupted():
        Half()
except KeyboardInterrupt:
    Broken()
"""


def test_object_whose_constructor_was_interrupted_prints_nothing() -> None:
    """Libraries delete such objects later, and the interpreter would print a traceback of them."""
    done = subprocess.run(
        [sys.executable, "-c", HALF_MADE], capture_output=True, text=True, timeout=60, check=True
    )
    assert "AttributeError" not in done.stderr
    assert "is still told" in done.stderr
