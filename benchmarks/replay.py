"""A whole run beside a bare replay of the same requests, in one sitting.

The suite is run once in this process, where every request is kept; then with two workers, which is what
counts; then the same requests go to a fresh reference from two processes over kept connections, as quickly as
the standard library sends them, with nobody looking at the answers. A replay is cheaper for the target, too:
codes and tokens in it are nobody's, so much of it ends in an early refusal.
"""

from __future__ import annotations

import argparse
import http.client
import multiprocessing
import os
import ssl
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import Any
from unittest import mock
from urllib.parse import urlsplit

from gateproof.conformance.run.context.embedded import Embedded
from gateproof.conformance.run.context.gateway import GatewayContext
from gateproof.conformance.run.drive.options import RunOptions
from gateproof.conformance.run.drive.session import carry_out
from gateproof.conformance.run.prepare.gateway import prepare
from gateproof.conformance.suite import rules
from gateproof.conformance.wire.connections import Connections
from gateproof.conformance.wire.exchange import Answer, Request
from gateproof.conformance.wire.route import Place, origin

WORKERS = 2
AIM = 4.0


class Tape:
    """Every request of a run in this process, and how long the target and the fakes took to answer."""

    def __init__(self) -> None:
        self.requests: list[Request] = []
        self.waited_s = 0.0
        self._ask = Connections.ask

    def recorder(self) -> Callable[[Connections, Place, Request], Answer]:
        """What stands in for the way in which every request is sent."""

        def ask(connections: Connections, place: Place, request: Request) -> Answer:
            self.requests.append(request)
            begun = time.monotonic()
            try:
                return self._ask(connections, place, request)
            finally:
                self.waited_s += time.monotonic() - begun

        return ask


def send_all(requests: Sequence[Request], moved: dict[str, str], ca_file: str) -> int:
    """Sends requests one after the other, each to where its origin has moved; says how many were answered."""
    trusting = ssl.create_default_context(cafile=ca_file)
    open_now: dict[str, http.client.HTTPConnection] = {}
    answered = 0
    for request in requests:
        place = moved[origin(request.url)]
        if place not in open_now:
            parts = urlsplit(place)
            open_now[place] = http.client.HTTPSConnection(
                parts.hostname or "", parts.port, timeout=30, context=trusting
            )
        url = urlsplit(request.url)
        target = (url.path or "/") + (f"?{url.query}" if url.query else "")
        try:
            open_now[place].request(request.method, target, request.body or None, dict(request.headers))
            open_now[place].getresponse().read()
            answered += 1
        except (OSError, http.client.HTTPException, ValueError):
            open_now.pop(place).close()
    return answered


def whole_run_s(folder: Path) -> float:
    """The wall time of the command with two workers, from its start to its end."""
    begun = time.monotonic()
    command = [
        sys.executable,
        "-m",
        "gateproof",
        "run",
        "--quiet",
        "--seed",
        "1",
        "--workers",
        str(WORKERS),
    ]
    subprocess.run([*command, "--out", str(folder)], check=True, capture_output=True, timeout=900)
    return time.monotonic() - begun


def main() -> int:
    argparse.ArgumentParser(description=__doc__).parse_args()
    tape = Tape()
    every = list(rules.load().for_role("gateway"))
    with tempfile.TemporaryDirectory() as scratch, ExitStack() as stack:
        folder = Path(scratch)
        stack.enter_context(mock.patch.object(Connections, "ask", tape.recorder()))
        begun, busy = time.monotonic(), time.process_time()
        first = carry_out(Embedded(), every, RunOptions(seed=1), lambda _: None, folder / "one")
        alone, busy = time.monotonic() - begun, time.process_time() - busy
        whole = whole_run_s(folder / "two")
        (folder / "fresh").mkdir()
        fresh = prepare(Embedded(), folder / "fresh", 1, stack).context
        replay, sent, answered = replayed(tape.requests, first.target, fresh)
    print(f"one worker:   {alone:6.1f} s, {busy:.1f} s of them on our own processor; {first.verdict.value}")
    print(f"              {len(tape.requests)} requests, {tape.waited_s:.1f} s until they were answered")
    print(f"two workers:  {whole:6.1f} s, from the command's start to its end")
    print(f"bare replay:  {replay:6.1f} s for {sent} requests by two processes, {answered} answered")
    print(f"ratio:        {whole / replay:6.1f} (aim: {AIM:g} or less); processors here: {os.cpu_count()}")
    return 0


def replayed(
    requests: Sequence[Request], before: Mapping[str, Any], fresh: GatewayContext
) -> tuple[float, int, int]:
    """How long the requests take to be sent again, how many those are, and how many were answered."""
    assert fresh.merchant is not None, "the reference has a control, so it has a merchant"
    moved = {
        origin(before["base_url"]): fresh.target.base_url,
        origin(before["core_url"]): fresh.target.core_url,
    }
    others = Counter(origin(request.url) for request in requests if origin(request.url) not in moved)
    # The merchant is where the rest of them went, but for a few that a check sent to a place of its own.
    for merchant, _ in others.most_common(1):
        moved[merchant] = next(iter(fresh.merchant.place.origins))
    sent = [request for request in requests if origin(request.url) in moved]
    halves = [sent[turn::WORKERS] for turn in range(WORKERS)]
    start = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(WORKERS, mp_context=start) as pool:
        # The first task of each process is its start.
        list(pool.map(send_all, [[]] * WORKERS, [moved] * WORKERS, [fresh.ca_file] * WORKERS))
        begun = time.monotonic()
        answered = sum(pool.map(send_all, halves, [moved] * WORKERS, [fresh.ca_file] * WORKERS))
        return time.monotonic() - begun, len(sent), answered


if __name__ == "__main__":
    sys.exit(main())
