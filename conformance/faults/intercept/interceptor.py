"""Starts the intercepting proxy, gives it orders, and makes sure that it is gone afterwards."""

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

_ADDON = Path(__file__).parent / "addon.py"
_START_S, _ORDER_S, _END_S = 30.0, 20.0, 5.0


class InterceptFailed(Exception):
    """The proxy does not run, or did not do what it was told."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Trust:
    """What the proxy shows to who asks, and by what it knows who is asked."""

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
        """Puts the proxy in front of this URL's origin; gives the URL by way of it.

        `tcp://` in place of a scheme passes octets on as they are: HTTP that is none ends in a 502 otherwise.
        """
        parts = urlsplit(upstream)
        self._set({**self._hops, hop: f"{parts.scheme}://{parts.netloc}"})
        return parts._replace(netloc=f"127.0.0.1:{self._ports[hop]}").geturl()

    def close_hop(self, hop: str) -> None:
        self._set({name: upstream for name, upstream in self._hops.items() if name != hop})

    def arm(self, *rules: Rule) -> None:
        """These rules from now on, and no other; what has fired is counted anew."""
        self._order("rules", rules=[rule.to_json() for rule in rules])

    def fired(self, rule: Rule) -> int:
        """How often the rule was applied, by the word of the proxy itself; a fault of its own is told."""
        report = self._order("report")
        if report["troubles"]:
            raise InterceptFailed(f"the intercepting proxy broke: {report['troubles'][0]}")
        return int(report["fired"].get(rule.name, 0))

    def passed(self) -> tuple[Passed, ...]:
        """What has passed since this was last asked."""
        return tuple(Passed.from_json(raw) for raw in self._order("passed")["passed"])

    def _set(self, hops: dict[str, str]) -> None:
        self._ports = {hop: int(port) for hop, port in self._order("hops", hops=hops)["ports"].items()}
        self._hops = hops

    def _order(self, what: str, **given: Any) -> dict[str, Any]:
        try:
            self._line.sendall(json.dumps({"do": what, **given}).encode() + b"\n")
            answer: dict[str, Any] = json.loads(self._reading.readline())
        except (OSError, ValueError):
            raise InterceptFailed("the intercepting proxy is gone") from None
        if "error" in answer:
            raise InterceptFailed(f"the intercepting proxy refuses an order: {answer['error']}")
        return answer


@contextmanager
def intercepting(trust: Trust, program: Path | None = None) -> Iterator[Interceptor]:
    """The proxy, for as long as the block lasts; it ends with its socket, and is killed where it does not."""
    program = program or mitmdump()
    if program is None:
        raise InterceptFailed("there is no mitmdump")
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="gateproof-")))
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
        # Its own folder, because it would put a certificate authority into the user's.
        "confdir": str(folder),
        "certs": f"*={both}",
        "ssl_verify_upstream_trusted_ca": str(trust.ca_file),
        "connection_strategy": "lazy",
        "keep_host_header": "true",
        "http2": "false",
        "onboarding": "false",
        "termlog_verbosity": "error",
        "flow_detail": "0",
        # A place for it to listen until it is told better.
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
        # Ctrl-C is for whoever started it, who then ends it.
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
        raise InterceptFailed(f"mitmdump said nothing for {_START_S:.0f} s")
    line.settimeout(_ORDER_S)
    said = _first_line(line)
    if not hmac.compare_digest(str(said.get("token", "")).encode(), token.encode()):
        line.close()
        raise InterceptFailed("somebody else answered in place of mitmdump")
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
