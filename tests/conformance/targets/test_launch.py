"""Launching: ready or a clear line, and nothing is left running afterwards."""

import os
import signal
import socket
import stat
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest
from waiting import alive, eventually

from gateproof.conformance.targets import launch as launching
from gateproof.conformance.targets import processes
from gateproof.conformance.targets.launch import LaunchFailed, launch
from gateproof.conformance.targets.model import Launch
from gateproof.conformance.targets.output import Output
from gateproof.conformance.targets.processes import group_lives, signal_group
from gateproof.conformance.targets.readiness import answers, any_answers

pytestmark = pytest.mark.attack

SERVER = """
    import http.server, os, sys
    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(404)
            self.end_headers()
    server = http.server.HTTPServer(("127.0.0.1", int(sys.argv[1])), Handler)
    print("listening", os.environ["COLOUR"], os.getcwd(), flush=True)
    server.serve_forever()
"""
DEAF = """
import signal, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
print('deaf', flush=True)
time.sleep(60)
"""


@pytest.fixture
def spec(tmp_path):
    def spec(body, *arguments, **settings):
        script = tmp_path / "target.py"
        script.write_text(textwrap.dedent(body))
        return Launch(command=(sys.executable, str(script), *arguments), cwd=tmp_path, **settings)

    return spec


@pytest.fixture
def start(tmp_path):
    started = []

    def start(spec, **settings):
        running = launch(spec, output_file=tmp_path / "output.log", **settings)
        started.append(running)
        return running

    yield start
    for running in started:
        running.stop()


def _free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def test_a_target_is_started_in_its_folder_and_waited_for(spec, start, tmp_path):
    port = _free_port()
    url = f"http://127.0.0.1:{port}/x?y"
    running = start(
        spec(SERVER, str(port), env={"COLOUR": "green"}),
        ready=any_answers([url]),
        addresses=[("127.0.0.1", port)],
        env_extra={"COLOUR": "red"},
    )

    assert answers(url)
    assert eventually(lambda: "listening green" in running.output())
    assert str(tmp_path) in running.output()
    assert running.output_since(running.printed) == ""
    assert stat.S_IMODE((tmp_path / "output.log").stat().st_mode) == 0o600
    running.stop()
    running.stop()
    assert not answers(url)
    assert running.exit_code() == -signal.SIGTERM


def test_its_own_ready_url_goes_first(spec, start):
    port = _free_port()
    url = f"http://127.0.0.1:{port}"

    start(spec(SERVER, str(port), env={"COLOUR": "x"}, ready_url=url), ready=lambda: pytest.fail("not asked"))

    assert answers(url)


def test_a_port_that_answers_before_is_named(spec, start):
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        with pytest.raises(LaunchFailed, match=f"127.0.0.1:{port} already answers"):
            start(spec("print('never')"), addresses=[("127.0.0.1", port)])


def test_a_target_that_ends_early_tells_its_exit_code_and_last_lines(spec, start):
    with pytest.raises(LaunchFailed, match="exit code 7") as caught:
        start(
            spec("import sys; print('cannot bind s3cret', file=sys.stderr); sys.exit(7)"), ready=lambda: False
        )

    assert caught.value.exit_code == 7
    assert caught.value.last_lines == "cannot bind s3cret\n"
    assert "s3cret" not in str(caught.value)


def test_a_target_that_is_never_ready_is_stopped(spec, start):
    body = "import time, os; print(os.getpid(), flush=True); time.sleep(60)"

    with pytest.raises(LaunchFailed, match="not ready within 5 s") as caught:
        start(spec(body, timeout_s=5), ready=lambda: False)

    assert not alive(int(caught.value.last_lines))


@pytest.mark.parametrize(
    ("command", "cwd", "what"),
    [
        (("./not-there",), ".", r"no program \./not-there"),
        (("./plain",), ".", "not executable"),
        (("true",), "gone", r"folder .*gone does not exist"),
    ],
)
def test_a_command_that_cannot_start_gets_one_line(start, tmp_path, command, cwd, what):
    (tmp_path / "plain").write_text("no program")

    with pytest.raises(LaunchFailed, match=what) as caught:
        start(Launch(command=command, cwd=tmp_path / cwd))
    assert "\n" not in str(caught.value)


def test_stubborn_grandchildren_do_not_outlive_the_target(spec, start, monkeypatch):
    monkeypatch.setattr(launching, "_GRACE_S", 0.3)
    running = start(
        spec(f"""
            import subprocess, sys
            child = subprocess.Popen([sys.executable, "-c", {DEAF!r}])
            print("child", child.pid, flush=True)
            sys.exit(0)
        """)
    )
    assert eventually(lambda: "deaf" in running.output() and "child" in running.output())
    pid = int(running.output().split("child")[1].split()[0])
    assert running.wait(10) == 0
    assert alive(pid)

    running.stop()

    assert eventually(lambda: not alive(pid))


@pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="processes cannot be listed here")
def test_child_in_a_session_of_its_own_does_not_outlive_the_target(spec, start):
    running = start(
        spec("""
            import subprocess, sys
            child = subprocess.Popen(["sleep", "60"], start_new_session=True)
            print("child", child.pid, flush=True)
        """)
    )
    assert eventually(lambda: "child" in running.output())
    pid = int(running.output().split("child")[1].split()[0])
    assert running.wait(10) == 0
    assert alive(pid)

    running.stop()

    assert eventually(lambda: not alive(pid))


def test_target_that_is_asked_to_end_has_ended_with_all_of_its_group(spec, start, tmp_path):
    body = """
        import signal, sys, time
        def clear_up(*_):
            time.sleep(0.3)
            sys.exit("cleared up")
        signal.signal(signal.SIGTERM, clear_up)
        print("up", flush=True)
        # A signal that comes just before a sleep does not end it.
        for _ in range(1200):
            time.sleep(0.05)
    """
    script = spec(body).command[1]
    shell = f'"{sys.executable}" "{script}"; exit $?'
    running = start(Launch(command=("sh", "-c", shell), cwd=tmp_path))
    assert eventually(lambda: "up" in running.output())
    began = time.monotonic()

    assert running.ask_to_end(10)
    assert time.monotonic() - began < 5
    running.clear_away()
    assert "cleared up" in running.output()


@pytest.mark.skipif(not Path("/proc").is_dir(), reason="processes cannot be read like files here")
def test_what_nobody_reaps_has_ended(spec, start):
    running = start(
        spec("""
            import os, time
            if os.fork() == 0:
                if os.fork() == 0:
                    os._exit(0)
                os.setpgid(0, 0)
                print("parent", os.getpid(), "away", flush=True)
            time.sleep(60)
        """)
    )
    assert eventually(lambda: "away" in running.output())
    parent = int(running.output().split()[1])
    try:
        assert running.ask_to_end(10)
        assert signal_group(running.pid, 0)
    finally:
        os.kill(parent, signal.SIGKILL)


@pytest.mark.skipif(not Path("/proc").is_dir(), reason="processes cannot be read like files here")
def test_group_whose_first_process_runs_lives_without_a_look_at_all_processes(spec, start, monkeypatch):
    running = start(spec("import time; print('up', flush=True); time.sleep(60)"))
    assert eventually(lambda: "up" in running.output())

    with monkeypatch.context() as patched:
        patched.setattr(processes, "_processes", lambda: pytest.fail("looked at all processes"))
        assert group_lives(running.pid)
    running.stop()
    assert not group_lives(running.pid)


@pytest.mark.skipif(not hasattr(os, "pidfd_open"), reason="the kernel does not tell when a process ends here")
def test_waiting_for_the_end_does_not_ask_again_and_again(spec, start, monkeypatch):
    running = start(spec("import time; time.sleep(1)"))

    with monkeypatch.context() as patched:
        patched.setattr(subprocess.time, "sleep", lambda _: pytest.fail("waited by sleeping"))
        assert running.wait(0.05) is None
        assert running.wait(60) == 0
        assert running.wait(60) == 0


def test_target_that_does_not_end_is_asked_for_so_long_and_no_longer(spec, start):
    running = start(spec(DEAF))
    assert eventually(lambda: "deaf" in running.output())

    assert not running.ask_to_end(0.3)
    running.clear_away()
    assert running.exit_code() == -signal.SIGKILL


def test_ctrl_c_during_the_grace_still_leaves_nothing(spec, start, monkeypatch):
    running = start(spec(DEAF))
    assert eventually(lambda: "deaf" in running.output())

    real, interrupts = time.sleep, [KeyboardInterrupt()]

    def interrupted_once(pause):
        if interrupts:
            raise interrupts.pop()
        real(pause)

    monkeypatch.setattr(launching.time, "sleep", interrupted_once)
    with pytest.raises(KeyboardInterrupt):
        running.stop()

    assert running.exit_code() == -signal.SIGKILL


def test_a_harness_that_just_exits_leaves_nothing(tmp_path):
    program = f"""
import pathlib
from gateproof.conformance.targets.launch import launch
from gateproof.conformance.targets.model import Launch
here = pathlib.Path({str(tmp_path)!r})
running = launch(Launch(command=("sleep", "60"), cwd=here), output_file=here / "output.log")
print(running.pid)
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=60
    )

    assert not alive(int(done.stdout))


def test_a_target_that_watches_its_stdin_sees_it_open(spec, start):
    running = start(spec("import sys; print('waiting', flush=True); sys.stdin.read()"))
    assert eventually(lambda: "waiting" in running.output())
    assert running.exit_code() is None

    running.stop()


def test_output_is_kept_up_to_a_bound(tmp_path):
    output = Output(tmp_path / "output.log", largest=10)
    writer = os.dup(output.pipe)
    output.start()
    os.write(writer, b"12345678\n")
    assert eventually(lambda: output.kept == 9)
    os.write(writer, b"abcdefgh")
    os.close(writer)
    output.wait(10)

    assert output.since(0) == "12345678\na"
    assert output.dropped == 7
    assert output.last_lines() == "12345678\na"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no disk that is always full")
def test_target_may_go_on_printing_where_the_disk_is_full():
    """What it prints is counted as not kept; a pipe that nobody reads any more could end the target."""
    output = Output(Path("/dev/full"))
    writer = os.dup(output.pipe)
    output.start()
    for _ in range(3):
        os.write(writer, b"x" * 65536)
    os.close(writer)
    output.wait(10)

    assert (output.kept, output.dropped) == (0, 3 * 65536)


def test_last_lines_begin_with_a_whole_one(tmp_path):
    output = Output(tmp_path / "output.log")
    writer = os.dup(output.pipe)
    output.start()
    for text in (b"s3cret" * 20_000, b"\nthen\nno more"):
        os.write(writer, text)
    os.close(writer)
    output.wait(10)

    assert output.last_lines() == "then\nno more"


def test_a_plain_server_answers_a_tls_handshake_in_its_way(spec, start):
    port = _free_port()
    start(spec(SERVER, str(port), env={"COLOUR": "x"}), ready=any_answers([f"https://127.0.0.1:{port}"]))


def test_a_connection_that_is_only_accepted_is_no_answer():
    with socket.create_server(("127.0.0.1", 0)) as mute:
        assert not answers(f"http://127.0.0.1:{mute.getsockname()[1]}", patience_s=0.1)
