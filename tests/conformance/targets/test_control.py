"""Control over HTTP and by command: what counts as an answer, as unsupported, as a failure."""

import json
import socket
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from gateproof.conformance.targets import actions, control
from gateproof.conformance.targets.connect import connect_control
from gateproof.conformance.targets.control import (
    CommandControl,
    ControlFailed,
    HttpControl,
    Refused,
    Unsupported,
)
from gateproof.conformance.targets.model import Control, Reach
from gateproof.conformance.wire.secret import Secret

# What the stand-in answers, by action: status and body.
ANSWERS: dict[str, tuple[int, bytes]] = {
    "describe": (200, b'{"name": "acme", "version": "2", "actions": ["logs"], "clock_offset_s": 3}'),
    "create_project": (200, b'{"project_id": "prj_1"}'),
    "create_resource": (200, b'{"resource_id": "res_1", "jwks_uri": "https://x/jwks"}'),
    "create_proxy_client": (200, b'{"client_id": "proxy_1", "client_secret": "hidden-s3cret"}'),
    "set_agent_policy": (200, b"{}"),
    "sign_in": (200, b'{"redirected_to": null}'),
    "rotate_keys": (501, b"whatever"),
    "refusing": (422, b'{"refused": "one merchant is enough"}'),
    "advance_clock": (500, b"s3cret trace"),
    "withhold_redemption_scope": (500, b'{"message": "no such client", "trace": "hidden-s3cret"}'),
    "echoing": (500, b'{"message": "no such client for hidden-s3cret"}'),
    "logs": (200, b"[]"),
    "approve_agent": (200, b"<html>"),
    "revoke_proxy_client": (302, b""),
    "delete_project": (200, b'{"x": "' + b"y" * (control.LONGEST_ANSWER + 1) + b'"}'),
}


class _Console(BaseHTTPRequestHandler):
    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.heard.append((asked, self.headers.get("Authorization")))
        self.server.staging = self.headers.get("X-Staging")
        status, body = ANSWERS.get(asked["action"], (404, b""))
        self.send_response(status)
        self.send_header("Content-Type", "application/json; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Location", "/elsewhere")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args):
        pass


@pytest.fixture
def console():
    with ThreadingHTTPServer(("127.0.0.1", 0), _Console) as server:
        server.heard = []
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield server
        server.shutdown()
        thread.join()


@pytest.fixture
def over_http(console):
    plane = HttpControl(f"http://127.0.0.1:{console.server_port}/control", token=Secret("token", "t0ken"))
    yield plane
    plane.close()


def test_a_control_describes_itself(over_http):
    described = actions.describe(over_http)

    assert (described.name, described.version, described.clock_offset_s) == ("acme", "2", 3.0)
    assert described.may_support("logs")
    assert not described.may_support("rotate_keys")


def test_arguments_and_token_are_sent(over_http, console):
    actions.set_agent_policy(over_http, "prj_1", "hold")
    actions.create_project(over_http, "first")

    assert console.heard == [
        ({"action": "set_agent_policy", "project_id": "prj_1", "agent_policy": "hold"}, "Bearer t0ken"),
        ({"action": "create_project", "name": "first"}, "Bearer t0ken"),
    ]


def test_answers_are_taken_apart(over_http):
    resource = actions.create_resource(over_http, "prj_1", indicator="i", scopes=("a",), merchant={})
    client_id, secret = actions.create_proxy_client(over_http, "prj_1")
    user = {"name": "alice", "login": "alice@merchant.example", "password": "p"}
    landed = actions.sign_in(over_http, authorization_url="u", redirect_uri="r", user=user, approve=True)

    assert resource == ("res_1", "https://x/jwks")
    assert (client_id, secret.reveal()) == ("proxy_1", "hidden-s3cret")
    assert landed is None


def test_501_means_unsupported(over_http):
    with pytest.raises(Unsupported, match="rotate_keys"):
        actions.rotate_keys(over_http)


def test_422_means_that_these_arguments_are_refused(over_http):
    with pytest.raises(Refused, match="one merchant is enough") as caught:
        over_http.call("refusing")

    assert caught.value.why == "one merchant is enough"


@pytest.mark.parametrize(
    ("action", "what"),
    [
        ("advance_clock", "status 500, application/json, 12 bytes"),
        ("withhold_redemption_scope", "bytes: 'no such client'"),
        ("logs", "not one JSON object"),
        ("approve_agent", "not JSON"),
        ("revoke_proxy_client", "status 302"),
        ("delete_project", "longer than"),
        ("no_such_action", "status 404"),
    ],
)
def test_anything_else_is_a_failure_without_the_body(over_http, console, action, what):
    with pytest.raises(ControlFailed) as caught:
        over_http.call(action)

    assert what in str(caught.value)
    assert "s3cret" not in str(caught.value)
    assert len(console.heard) == 1


def test_failure_that_quotes_what_was_sent_is_not_told(monkeypatch, over_http):
    body = b'{"message": "wrong password \'s3cret-of-alice\'"}'
    monkeypatch.setitem(ANSWERS, "sign_in", (500, body))
    with pytest.raises(ControlFailed) as caught:
        over_http.call("sign_in", user={"password": "s3cret-of-alice"})

    assert "s3cret" not in str(caught.value)


def test_no_action_follows_an_error_on_the_same_connection():
    """Its server answers as if the connection stayed open, and then ends it."""
    head = b"HTTP/1.1 %s\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}"

    def serve(listening: socket.socket) -> None:
        for status in (b"500 Internal Server Error", b"200 OK"):
            connection, _ = listening.accept()
            with connection:
                connection.recv(4096)
                connection.sendall(head % status)
                # Until another request, or the end.
                connection.recv(4096)

    with socket.create_server(("127.0.0.1", 0)) as listening:
        thread = threading.Thread(target=serve, args=(listening,))
        thread.start()
        plane = HttpControl(f"http://127.0.0.1:{listening.getsockname()[1]}/control")
        with pytest.raises(ControlFailed, match="status 500"):
            plane.call("rotate_keys")
        assert plane.call("rotate_keys") == {}
        plane.close()
        thread.join()


def test_action_is_sent_once_more_if_a_kept_connection_ends():
    """The server reads the second request on the first connection, and then ends it without an answer."""
    answer = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}"
    heard = []

    def serve(listening: socket.socket) -> None:
        for answered in (1, 1, 0):
            connection, _ = listening.accept()
            with connection:
                for number in range(2):
                    octets = connection.recv(4096)
                    heard.append(octets)
                    if number >= answered or not octets:
                        break
                    connection.sendall(answer)

    with socket.create_server(("127.0.0.1", 0)) as listening:
        thread = threading.Thread(target=serve, args=(listening,))
        thread.start()
        plane = HttpControl(f"http://127.0.0.1:{listening.getsockname()[1]}/control")
        assert plane.call("rotate_keys") == {}
        # Read on the first connection, answered on the second, which is not kept.
        assert plane.call("rotate_keys") == {}
        with pytest.raises(ControlFailed):
            # A new connection that ends without an answer is a failure at once.
            plane.call("rotate_keys")
        plane.close()
        thread.join()

    assert sum(octets.startswith(b"POST") for octets in heard) == 4


def test_nobody_there_is_a_failure():
    plane = HttpControl("http://127.0.0.1:1/control")

    with pytest.raises(ControlFailed, match="the connection was refused"):
        plane.call("describe")
    plane.close()


class _Fixed:
    """A control that always gives the same answer."""

    def __init__(self, answer):
        self.answer = answer

    def call(self, action, /, **_arguments):
        if self.answer is None:
            raise Unsupported(action)
        return self.answer


@pytest.mark.parametrize(
    ("call", "answer"),
    [
        (lambda c: actions.create_project(c, "x"), {}),
        (lambda c: actions.create_project(c, "x"), {"project_id": 5}),
        (lambda c: actions.create_proxy_client(c, "x"), {"client_id": "x", "client_secret": ""}),
        (actions.logs, {"text": None}),
        (actions.describe, {"actions": "all"}),
        (actions.describe, {"actions": [1]}),
        (actions.describe, {"clock_offset_s": True}),
        (actions.describe, {"name": 1}),
    ],
)
def test_an_answer_of_another_shape_is_a_failure(call, answer):
    with pytest.raises(ControlFailed):
        call(_Fixed(answer))


def test_a_control_that_lists_no_actions_is_tried():
    for answer in ({}, None):
        assert actions.describe(_Fixed(answer)).may_support("rotate_keys")


def test_the_log_of_a_long_run_is_taken(over_http, tmp_path, monkeypatch):
    text = "x" * (control.LONGEST_ANSWER + 1)
    monkeypatch.setitem(ANSWERS, "logs", (200, json.dumps({"text": text}).encode()))

    assert actions.logs(over_http) == text
    assert actions.logs(_command(tmp_path, f"print(json.dumps({{'text': 'x' * {len(text)}}}))")) == text


def _command(tmp_path: Path, body: str) -> CommandControl:
    script = tmp_path / "control.py"
    script.write_text("import json, os, sys, time\nasked = json.load(sys.stdin)\n" + body)
    return CommandControl((sys.executable, str(script)), cwd=tmp_path)


def test_a_command_reads_and_prints_json(tmp_path):
    plane = _command(tmp_path, "print(json.dumps({'asked': asked, 'cwd': os.getcwd()}))")

    answer = plane.call("create_project", name="x" * 200_000)

    assert answer["asked"] == {"action": "create_project", "name": "x" * 200_000}
    assert Path(answer["cwd"]) == tmp_path


@pytest.mark.parametrize(
    ("body", "what"),
    [
        ("sys.exit(3)", "exit code 3"),
        ("print('s3cret')", "not JSON"),
        ("print([])", "not one JSON object"),
        ("os.kill(os.getpid(), 9)", "SIGKILL"),
        ("print('y' * 2_000_000)", "printed more than"),
    ],
)
def test_a_command_that_does_otherwise_has_failed(tmp_path, body, what):
    with pytest.raises(ControlFailed, match=what) as caught:
        _command(tmp_path, body).call("describe")
    assert "s3cret" not in str(caught.value)


def test_exit_64_means_unsupported(tmp_path):
    with pytest.raises(Unsupported):
        _command(tmp_path, "sys.exit(64)").call("describe")


def test_exit_65_means_refused(tmp_path):
    with pytest.raises(Refused, match="too odd"):
        _command(tmp_path, "print(json.dumps({'refused': 'too odd'}))\nsys.exit(65)").call("describe")


def test_a_command_that_hangs_is_ended_with_its_children(tmp_path, monkeypatch):
    monkeypatch.setattr(control, "TIMEOUT_S", 0.5)
    plane = _command(tmp_path, "os.system('sleep 60')")

    with pytest.raises(ControlFailed, match="did not end within"):
        plane.call("describe")


def test_a_command_whose_child_keeps_stdout_is_not_waited_for(tmp_path):
    plane = _command(tmp_path, "import subprocess\nsubprocess.Popen(['sleep', '60'])\nprint('{}')")

    assert plane.call("describe") == {}


def test_a_command_that_reads_nothing_may_answer(tmp_path):
    script = tmp_path / "deaf.sh"
    script.write_text("#!/bin/sh\nexec 0<&-\necho '{}'\n")
    script.chmod(0o755)

    assert CommandControl(("./deaf.sh",), cwd=tmp_path).call("x", payload="y" * 500_000) == {}


def test_a_command_that_is_not_there_is_named(tmp_path):
    with pytest.raises(ControlFailed, match=r"no program \./control\.sh"):
        CommandControl(("./control.sh",), cwd=tmp_path).call("describe")


def test_the_target_file_decides_the_way(tmp_path):
    by_command = connect_control(Control(cwd=tmp_path, command=("x",)))
    over_http = connect_control(Control(cwd=tmp_path, url="http://127.0.0.1:1/"))
    over_http.close()

    assert isinstance(by_command, CommandControl)
    assert isinstance(over_http, HttpControl)


def test_a_control_gets_the_headers_of_its_origin(console):
    reach = Reach(headers={"X-Staging": "1"})
    plane = HttpControl(f"http://127.0.0.1:{console.server_port}/control", reach=reach)

    actions.describe(plane)
    plane.close()

    assert console.staging == "1"


def test_a_header_of_the_target_is_in_no_error(console):
    reach = Reach(headers={"X-Staging": "hidden-s3cret"})
    plane = HttpControl(f"http://127.0.0.1:{console.server_port}/control", reach=reach)

    with pytest.raises(ControlFailed) as failed:
        plane.call("echoing")
    plane.close()

    assert "s3cret" not in str(failed.value)
