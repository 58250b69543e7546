"""Runs a fake merchant as a process, which ends when its stdin is closed."""

from __future__ import annotations

import contextlib
import json
import queue
import subprocess
import tempfile
import threading
from dataclasses import dataclass
from types import TracebackType
from typing import IO, Any

from gateproof.fakes.merchant.admin import MerchantAdmin
from gateproof.fakes.merchant.config import MerchantConfig
from gateproof.forks.here import forked
from gateproof.package import PYTHON_MODULE

START_TIMEOUT_S = 60.0
STOP_TIMEOUT_S = 5.0


class MerchantStartError(RuntimeError):
    """The fake merchant did not start; the text is its error message."""


@dataclass(frozen=True, kw_only=True, slots=True)
class MerchantEndpoints:
    """The merchant's addresses, for a gateway's configuration."""

    issuer: str
    authorization_endpoint: str
    token_endpoint: str
    userinfo_endpoint: str
    jwks_uri: str
    api_url: str


class MerchantProcess:
    """A running fake merchant. `stop` takes a bounded time; leaving the `with` block stops it too."""

    def __init__(
        self, process: subprocess.Popen[bytes], errors: IO[bytes], announced: dict[str, Any], token: str
    ) -> None:
        self._process = process
        self._errors = errors
        self.url: str = announced["url"]
        self.issuer: str = announced["issuer"]
        self.endpoints = MerchantEndpoints(**announced["endpoints"])
        self.admin = MerchantAdmin(announced["admin_url"], token)

    @property
    def pid(self) -> int:
        return self._process.pid

    def stop(self) -> None:
        """Ends the process."""
        self.admin.close()
        _end(self._process)
        self._errors.close()

    def __enter__(self) -> MerchantProcess:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()


def start(config: MerchantConfig) -> MerchantProcess:
    """Starts a fake merchant and waits until both of its ports are open."""
    # Not a pipe: it is read only at the end, and a full pipe would block the merchant.
    errors = tempfile.TemporaryFile()  # noqa: SIM115 - closed by stop
    process = subprocess.Popen(
        forked((*PYTHON_MODULE, "gateproof.fakes.merchant")),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=errors,
        # Ctrl-C must not end the merchant: its parent handles it and may still query the journal.
        process_group=0,
    )
    try:
        announced = _announcement(process, config)
    except MerchantStartError as failed:
        code = _end(process)
        errors.seek(0)
        said = errors.read(4096).decode(errors="replace").strip()
        errors.close()
        raise MerchantStartError(said or f"{failed} (exit {code})") from None
    except BaseException:
        _end(process)
        errors.close()
        raise
    return MerchantProcess(process, errors, announced, config.admin_token)


def _announcement(process: subprocess.Popen[bytes], config: MerchantConfig) -> dict[str, Any]:
    """Sends the configuration and waits for the one line of the answer."""
    assert process.stdin is not None  # noqa: S101 - both are pipes
    assert process.stdout is not None  # noqa: S101
    lines: queue.SimpleQueue[bytes] = queue.SimpleQueue()
    stdout = process.stdout
    threading.Thread(target=lambda: lines.put(stdout.readline()), daemon=True).start()
    try:
        process.stdin.write(config.to_json().encode() + b"\n")
        process.stdin.flush()
        announced = json.loads(lines.get(timeout=START_TIMEOUT_S))
    except queue.Empty:
        raise MerchantStartError(f"the fake merchant did not start in {START_TIMEOUT_S:.0f} s") from None
    except (OSError, ValueError):
        raise MerchantStartError("the fake merchant ended before it was ready") from None
    return dict(announced)


def _end(process: subprocess.Popen[bytes]) -> int:
    """Closes stdin, which asks the process to stop; kills it if it does not."""
    for pipe in (process.stdin, process.stdout):
        with contextlib.suppress(OSError):
            if pipe is not None:
                pipe.close()
    try:
        return process.wait(STOP_TIMEOUT_S)
    except subprocess.TimeoutExpired:
        process.kill()
        return process.wait(STOP_TIMEOUT_S)
