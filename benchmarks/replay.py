"""Compares a whole run with a plain replay of the same requests.

The suite runs once in this process, which records every request. Then the command runs with its default
options, which is the measured run, and the same requests are sent to a new reference by two processes over
kept connections, as fast as the standard library does, with the answers ignored; both in turns. The replay is
also cheaper for the target: the codes and tokens in it are unknown there, so many requests are refused early.
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
from statistics import median
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

SENDERS = 2
AIM = 4.0


class RequestRecorder:
    """Records every request of a run in this process, and the time until the answers."""

    def __init__(self) -> None:
        self.requests: list[Request] = []
        self.waited_s = 0.0
        self._ask = Connections.ask

    def recorder(self) -> Callable[[Connections, Place, Request], Answer]:
        """The replacement for `Connections.ask`."""

        def ask(connections: Connections, place: Place, request: Request) -> Answer:
            self.requests.append(request)
            begun = time.monotonic()
            try:
                return self._ask(connections, place, request)
            finally:
                self.waited_s += time.monotonic() - begun

        return ask


def send_all(requests: Sequence[Request], moved: dict[str, str], ca_file: str) -> int:
    """Sends requests one by one to the new origins; returns how many were answered."""
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
    """The wall time of the command."""
    begun = time.monotonic()
    command = [sys.executable, "-m", "gateproof", "run", "--quiet", "--seed", "1", "--out", str(folder)]
    subprocess.run(command, check=True, capture_output=True, timeout=900)
    return time.monotonic() - begun


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=3, metavar="N", help="of both (default: 3)")
    rounds = parser.parse_args().rounds
    tape = RequestRecorder()
    every = list(rules.load().for_role("gateway"))
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        begun, busy = time.monotonic(), time.process_time()
        with mock.patch.object(Connections, "ask", tape.recorder()):
            first = carry_out(Embedded(), every, RunOptions(seed=1), lambda _: None, folder / "recorded")
        alone, busy = time.monotonic() - begun, time.process_time() - busy
        print(
            f"one worker:   {alone:6.1f} s, {busy:.1f} s of them on our own processor; {first.verdict.value}"
        )
        print(f"              {len(tape.requests)} requests, {tape.waited_s:.1f} s until they were answered")
        wholes, replays = [], []
        for number in range(rounds):
            wholes.append(whole_run_s(folder / f"whole-{number}"))
            (folder / f"fresh-{number}").mkdir()
            with ExitStack() as living:
                fresh = prepare(Embedded(), folder / f"fresh-{number}", 1, living).context
                replay, sent, answered = replayed(tape.requests, first.target, fresh)
            replays.append(replay)
            print(f"whole run:    {wholes[-1]:6.1f} s, from the command's start to its end")
            print(f"bare replay:  {replay:6.1f} s for {sent} requests by two processes, {answered} answered")
    ratio = median(wholes) / median(replays)
    print(f"ratio:        {ratio:6.1f}, of the medians (aim: {AIM:g}); processors here: {os.cpu_count()}")
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
    halves = [sent[turn::SENDERS] for turn in range(SENDERS)]
    start = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(SENDERS, mp_context=start) as pool:
        # The first task of each process is its start.
        list(pool.map(send_all, [[]] * SENDERS, [moved] * SENDERS, [fresh.ca_file] * SENDERS))
        begun = time.monotonic()
        answered = sum(pool.map(send_all, halves, [moved] * SENDERS, [fresh.ca_file] * SENDERS))
        return time.monotonic() - begun, len(sent), answered


if __name__ == "__main__":
    sys.exit(main())
