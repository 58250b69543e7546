"""A control that can do some things works together with Projects that were set up by hand."""

from __future__ import annotations

import json
import threading
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from gateproof.conformance.targets.control import ControlPlane, Unsupported

MAKING = {"create_project", "create_resource"}
SOME = ("AUTHZ-09", "AUTHZ-13", "PROXY-0[345]", "REDEEM-06", "CODE-03", "VAULT-0[123]", "SECRET-08")


@contextmanager
def lacking(control: ControlPlane, actions: Collection[str], asked: list[str]) -> Iterator[str]:
    """The same control without these actions; describe does not list them, where there is one."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            members = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            name = members.pop("action")
            asked.append(name)
            try:
                if name in actions:
                    raise Unsupported(name)
                answer = control.call(name, **members)
            except Unsupported:
                self.answer(501, {})
                return
            if name == "describe":
                answer["actions"] = sorted(set(answer["actions"]) - set(actions))
            self.answer(200, answer)

        def answer(self, status: int, document: dict[str, Any]) -> None:
            body = json.dumps(document).encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}/control"
        finally:
            server.shutdown()
            thread.join()


def run(by_hand: Any, *without: str) -> tuple[int, dict[str, dict[str, Any]], list[str]]:
    """Exit code, the rules by name, and what the control was asked for."""
    asked: list[str] = []
    by_hand.add_project(1)
    by_hand.add_project(2)
    with lacking(by_hand.control, without, asked) as url:
        by_hand.lines.insert(2, f'[control]\nurl = "{url}"')
        code, report = by_hand.run(*(part for rule in SOME for part in ("--only", rule)))
    return code, {rule["id"]: rule for rule in report["rules"]}, asked


def test_control_that_never_hands_over_a_log_shows_nothing(by_hand: Any) -> None:
    class Mute:
        def call(self, action: str, /, **arguments: Any) -> dict[str, Any]:
            return {"text": ""} if action == "logs" else by_hand.control.call(action, **arguments)

    with lacking(Mute(), (), []) as url:
        by_hand.lines.insert(2, f'[control]\nurl = "{url}"')
        _, report = by_hand.run("--only", "SECRET-05", "--only", "DISC-01")
    logs = [rule for rule in report["rules"] if rule["id"] != "DISC-01"]
    assert {rule["verdict"] for rule in logs} == {"not-testable"}
    assert all("control action logs: expected a line" in rule["reason"] for rule in logs)


def failures(rules: dict[str, dict[str, Any]]) -> dict[str, str]:
    return {name: rule["reason"] for name, rule in rules.items() if rule["verdict"] in {"failed", "error"}}


def test_projects_by_hand_and_a_control_that_makes_none(by_hand: Any) -> None:
    code, rules, asked = run(by_hand, *MAKING)
    untested = {name for name, rule in rules.items() if rule["verdict"] == "not-testable"}
    assert (code, failures(rules), untested) == (0, {}, set())
    # A Project of the operator's stays as it is; Proxy clients that were made are gone at the end.
    assert "set_agent_policy" not in asked
    assert asked.count("create_proxy_client") == asked.count("revoke_proxy_client") > 0


def test_control_that_neither_describes_itself_nor_moves_the_clock(by_hand: Any) -> None:
    code, rules, asked = run(by_hand, "describe", "advance_clock", "set_agent_policy", "create_proxy_client")
    assert (code, failures(rules)) == (0, {})
    assert "create_project" not in asked
    untested = {name: rule["reason"] for name, rule in rules.items() if rule["verdict"] == "not-testable"}
    assert set(untested) == {"CODE-03", "PROXY-04", "PROXY-05", "REDEEM-06"}, untested
    assert "a code lifetime" in untested["CODE-03"]
