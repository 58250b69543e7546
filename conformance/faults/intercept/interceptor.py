"""Starts the intercepting proxy, sends it commands, and stops it."""

from __future__ import annotations

import hmac
import json
import os
import secrets
import socket
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from gateproof.conformance.faults.intercept.finding import mitmdump
from gateproof.conformance.faults.intercept.rules import Passed, Rule
from gateproof.conformance.targets.guardian import guardian

_ADDON = Path(__file__).parent / "addon.py"
_START_S, _ORDER_S, _END_S = 30.0, 20.0, 5.0


class InterceptFailed(Exception):
    """The proxy does not run, or failed to execute a command."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Trust:
    """The proxy's certificate for clients, and the CA with which it verifies servers."""

    certificate: Path
    key: Path
    ca_file: Path


class Interceptor:
    """One proxy process with any number of hops."""

    def __init__(self, line: socket.socket) -> None:
        self._line = line
        self._reading = line.makefile("rb")
        self._hops: dict[str, str] = {}
        self._ports: dict[str, int] = {}

    def close(self) -> None:
        self._reading.close()
        self._line.close()

    def open(self, hop: str, upstream: str) -> str:
        """Opens a hop to this URL's origin; returns the URL through the proxy.

        With `tcp://` as scheme, octets pass unchanged: as HTTP, invalid answers would become a 502.
        """
        parts = urlsplit(upstream)
        self._set({**self._hops, hop: f"{parts.scheme}://{parts.netloc}"})
        return parts._replace(netloc=f"127.0.0.1:{self._ports[hop]}").geturl()

    def close_hop(self, hop: str) -> None:
        self._set({name: upstream for name, upstream in self._hops.items() if name != hop})

    def arm(self, *rules: Rule) -> None:
        """Replaces the rules, and resets the counters."""
        self._command("rules", rules=[rule.to_json() for rule in rules])

    def fired(self, rule: Rule) -> int:
        """How often the proxy applied the rule; raises if the proxy had an error."""
        report = self._command("report")
        if report["troubles"]:
            raise InterceptFailed(f"the intercepting proxy broke: {report['troubles'][0]}")
        return int(report["fired"].get(rule.name, 0))

    def passed(self) -> tuple[Passed, ...]:
        """The exchanges since the last call."""
        return tuple(Passed.from_json(raw) for raw in self._command("passed")["passed"])

    def _set(self, hops: dict[str, str]) -> None:
        self._ports = {hop: int(port) for hop, port in self._command("hops", hops=hops)["ports"].items()}
        self._hops = hops

    def _command(self, what: str, **given: Any) -> dict[str, Any]:
        try:
            self._line.sendall(json.dumps({"do": what, **given}).encode() + b"\n")
            answer: dict[str, Any] = json.loads(self._reading.readline())
        except (OSError, ValueError):
            raise InterceptFailed("the intercepting proxy is gone") from None
        if "error" in answer:
            raise InterceptFailed(f"the intercepting proxy rejected a command: {answer['error']}")
        return answer


@contextmanager
def intercepting(trust: Trust, program: Path | None = None) -> Iterator[Interceptor]:
    """Runs the proxy during the block; it ends when its socket closes, or is killed."""
    program = program or mitmdump()
    if program is None:
        raise InterceptFailed("mitmdump was not found")
    with ExitStack() as stack:
        keeper = guardian()
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="gateproof-")))
        keeper.add_folder(folder)
        stack.callback(keeper.drop_folder, folder)
        token = secrets.token_urlsafe(24)
        listening = stack.enter_context(socket.socket(socket.AF_UNIX, socket.SOCK_STREAM))
        listening.bind(str(folder / "orders"))
        listening.listen(1)
        process = _started(program, folder, trust, token)
        stack.callback(_ended, process)
        line = _connected(listening, process, token)
        interceptor = Interceptor(line)
        stack.callback(interceptor.close)
        yield interceptor


def _started(program: Path, folder: Path, trust: Trust, token: str) -> subprocess.Popen[bytes]:
    both = folder / "both.pem"
    both.touch(mode=0o600)
    both.write_bytes(trust.key.read_bytes() + trust.certificate.read_bytes())
    settings: Mapping[str, str] = {
        # A separate folder, because mitmproxy would create a certificate authority in the user's.
        "confdir": str(folder),
        "certs": f"*={both}",
        "ssl_verify_upstream_trusted_ca": str(trust.ca_file),
        "connection_strategy": "lazy",
        "keep_host_header": "true",
        "http2": "false",
        "onboarding": "false",
        "termlog_verbosity": "error",
        "flow_detail": "0",
        # A placeholder until the first hop is opened.
        "mode": "reverse:http://127.0.0.1:1@127.0.0.1:0",
    }
    arguments = [part for name, value in settings.items() for part in ("--set", f"{name}={value}")]
    variables = {"GATEPROOF_INTERCEPT_SOCKET": str(folder / "orders"), "GATEPROOF_INTERCEPT_TOKEN": token}
    return subprocess.Popen(
        [str(program), "-q", "-s", str(_ADDON), *arguments],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env={**os.environ, **variables, "PYTHONDONTWRITEBYTECODE": "1"},
        # Ctrl-C must reach only the parent process, which then ends this one.
        start_new_session=True,
    )


def _connected(listening: socket.socket, process: subprocess.Popen[bytes], token: str) -> socket.socket:
    listening.settimeout(0.2)
    for _ in range(int(_START_S / 0.2)):
        try:
            line, _ = listening.accept()
            break
        except TimeoutError:
            if process.poll() is not None:
                raise InterceptFailed(f"mitmdump ended with exit code {process.returncode}") from None
    else:
        raise InterceptFailed(f"mitmdump did not connect within {_START_S:.0f} s")
    line.settimeout(_ORDER_S)
    said = _first_line(line)
    if not hmac.compare_digest(str(said.get("token", "")).encode(), token.encode()):
        line.close()
        raise InterceptFailed("another process answered in place of mitmdump")
    return line


def _first_line(line: socket.socket) -> dict[str, Any]:
    said = bytearray()
    with suppress(OSError, ValueError):
        while not said.endswith(b"\n") and len(said) < 4096 and (octet := line.recv(1)):
            said += octet
        return dict(json.loads(said))
    return {}


def _ended(process: subprocess.Popen[bytes]) -> None:
    try:
        process.wait(_END_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait(_END_S)
