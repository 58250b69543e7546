"""Runs in which users sign in through Chromium: what they say and keep, and that nothing is left running."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

from gateproof.conformance.kit.authority import Authority
from gateproof.conformance.wire.ports import free_ports

SCRIPTS = str(Path(__file__).with_name("script_gateway.py"))
PATIENCE_S = 240.0
# Signs in at an address where nobody listens, says who it is, and waits for its end.
WORKER = """
import sys, time
from gateproof.conformance.suite.parties import User
from gateproof.conformance.signin.chromium.sign_in import ChromiumSignIn
from gateproof.conformance.signin.sign_in_result import SignInRequest
from gateproof.conformance.wire.exchange import Exchange
from gateproof.conformance.wire.secret import Secret
user = User(name="a", login="a", password=Secret("password", "b"))
lost = lambda asked: Exchange(step="x", request=asked, failure="f")
way = ChromiumSignIn(send=lost, may_visit=lambda _: True)
way.sign_in(SignInRequest(authorization_url="http://127.0.0.1:1/", redirect_uri="http://x.test/", user=user))
print("signed in", flush=True)
sys.stdin.readline()
if "end" in sys.argv:
    sys.exit()
if "close" in sys.argv:
    way.close()
    print("closed", flush=True)
time.sleep(60)
"""


@pytest.fixture
def target(tmp_path: Path) -> Callable[..., Path]:
    """Writes a target file for a gateway whose page is made by scripts."""

    def write(kind: str, **env: str) -> Path:
        ports = free_ports(3)
        base, core = (f"https://127.0.0.1:{port}" for port in ports[:2])
        control = f"http://127.0.0.1:{ports[2]}/control"
        authority = Authority(tmp_path)
        certificate = authority.issue("gateway")
        command = [sys.executable, SCRIPTS, "--base-url", base, "--core-url", core, "--control-url", control]
        command += ["--tls-cert", str(certificate.cert_file), "--tls-key", str(certificate.key_file)]
        file = tmp_path / "target.toml"
        file.write_text(
            f'[target]\nrole = "gateway"\nname = "scripts"\nversion = "1"\nbase_url = "{base}"\n'
            f'core_url = "{core}"\nca_file = {json.dumps(str(authority.ca_file))}\n'
            f"[launch]\ncommand = {json.dumps([*command, '--exit-with-stdin'])}\n"
            + "".join(f"env = {{ {name} = {json.dumps(value)} }}\n" for name, value in env.items())
            + f'[control]\nurl = "{control}"\n[sign_in]\nkind = "{kind}"\n'
        )
        return file

    return write


def gateproof(file: Path, command: str, *more: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "gateproof", command, *more],
        cwd=file.parent,
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )


def test_gateway_of_scripts_is_conformant(target: Callable[..., Path]) -> None:
    file = target("chromium")
    rules = ("AUTHZ-15", "AUTHZ-16", "AUTHZ-17", "AUTHZ-19")

    done = gateproof(
        file,
        *("run", "--target", "target.toml", "--workers", "2"),
        *(word for rule in rules for word in ("--only", rule)),
    )

    report = json.loads((file.parent / "gateproof-report" / "report.json").read_text())
    assert (done.returncode, done.stderr) == (0, ""), done.stdout
    assert {rule["id"]: rule["verdict"] for rule in report["rules"]} == dict.fromkeys(rules, "passed")
    left_out = [check for rule in report["rules"] for check in rule["checks"] if check["verdict"] != "passed"]
    # Its scripts send what its forms say. A tab that another browser has taken over leaves its cookies there.
    assert [check["id"] for check in left_out] == [
        "AUTHZ-17/code_never_comes_unasked_with_a_yes_in_the_address",
        "AUTHZ-19/form_of_another_browser_signs_the_first_one_in_nowhere",
    ]


def test_page_of_scripts_that_anybody_may_frame_is_found(target: Callable[..., Path]) -> None:
    file = target("chromium", SCRIPT_GATEWAY_SHOWS="framed")

    done = gateproof(file, "run", "--target", "target.toml", "--strict", "--only", "AUTHZ-15")

    report = json.loads((file.parent / "gateproof-report" / "report.json").read_text())
    said = {check["id"].partition("/")[2]: check["message"] for check in report["rules"][0]["checks"]}
    assert done.returncode == 1, done.stdout + done.stderr
    assert "expected frame-ancestors" in said["sign_in_and_approve_pages_cannot_be_framed"]
    assert "expected a Referrer-Policy" in said["sign_in_and_approve_pages_leak_no_referer"]


def test_forms_stick_at_it_and_doctor_names_the_way_out(target: Callable[..., Path]) -> None:
    said = gateproof(target("forms"), "doctor", "--target", "target.toml")

    assert said.returncode == 0
    assert 'try kind = "chromium" under [sign_in]' in " ".join(said.stdout.split())

    said = gateproof(target("chromium"), "doctor", "--target", "target.toml")

    assert (said.returncode, said.stderr) == (0, "")
    assert "not as its target file says" not in said.stdout


def test_picture_of_where_the_user_stuck_is_sealed_with_the_run(target: Callable[..., Path]) -> None:
    file = target("chromium", SCRIPT_GATEWAY_SHOWS="nothing")

    done = gateproof(file, "run", "--target", "target.toml", "--only", "AUTHZ-01", "--examples", "0")

    pictures = sorted((file.parent / "gateproof-report" / "pictures").iterdir())
    assert done.returncode == 1, done.stdout + done.stderr
    assert pictures
    for picture in pictures:
        assert picture.read_bytes().startswith(b"\x89PNG")
        assert f"see pictures/{picture.name}" in "".join(
            (file.parent / "gateproof-report" / "report.json").read_text()
        )
    verified = gateproof(file, "verify", "gateproof-report")
    assert verified.returncode == 0, verified.stdout + verified.stderr
    pictures[0].write_bytes(b"another")
    assert gateproof(file, "verify", "gateproof-report").returncode == 1


def running(root: int) -> set[int]:
    """The processes below this one that have to do with a browser."""
    below: dict[int, list[int]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and (parent := _parent(int(entry.name))) is not None:
            below.setdefault(parent, []).append(int(entry.name))
    found, coming = set[int](), [root]
    while coming:
        children = below.get(coming.pop(), [])
        found.update(children)
        coming += children
    return found


def _parent(pid: int) -> int | None:
    """The parent of a process; None for one that has ended, buried or not."""
    try:
        state, parent = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[:2]
    except OSError:
        return None
    return None if state == "Z" else int(parent)


def wait_until(holds: Callable[[], bool], what: str) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not holds():
        assert time.monotonic() < deadline, what
        time.sleep(0.05)


def gone(pids: Iterable[int]) -> bool:
    return all(_parent(pid) is None for pid in pids)


@pytest.mark.parametrize("way", ["close", "end", "kill", "terminate"])
def test_chromium_ends_with_whoever_started_it(way: str) -> None:
    command = [sys.executable, "-c", WORKER, way]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as worker:
        assert worker.stdin is not None
        assert worker.stdout is not None
        try:
            assert worker.stdout.readline() == "signed in\n"
            started = running(worker.pid)
            assert any("--type=" in _words(pid) for pid in started)
            if way in {"close", "end"}:
                worker.stdin.write("\n")
                worker.stdin.flush()
                assert worker.stdout.readline() == ("closed\n" if way == "close" else "")
            else:
                worker.send_signal(signal.SIGKILL if way == "kill" else signal.SIGTERM)
            wait_until(lambda: gone(started), "something outlived the worker")
        finally:
            worker.kill()


def _words(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_text()
    except OSError:
        return ""


@pytest.mark.parametrize("stop", [signal.SIGINT, signal.SIGTERM])
def test_stopped_run_leaves_no_browser(stop: signal.Signals, target: Callable[..., Path]) -> None:
    file = target("chromium")
    command = [sys.executable, "-m", "gateproof", "run", "--target", "target.toml", "--only", "AUTHZ-1*"]
    with subprocess.Popen(
        [*command, "--workers", "2"],
        cwd=file.parent,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as run:
        started = set[int]()

        def browsers() -> bool:
            started.update(running(run.pid))
            return sum("--remote-debugging-pipe" in _words(pid) for pid in running(run.pid)) >= 2

        wait_until(browsers, "no two workers started a browser")
        os.killpg(run.pid, stop) if stop is signal.SIGINT else run.send_signal(stop)
        said, complained = run.communicate(timeout=PATIENCE_S)
    wait_until(lambda: gone(started), "something outlived the run")
    report = json.loads((file.parent / "gateproof-report" / "report.json").read_text())

    assert (run.returncode, complained) == (3, ""), said
    checks = [check for rule in report["rules"] for check in rule["checks"]]
    assert [check for check in checks if check["verdict"] in {"failed", "error"}] == []
