"""Workers take turns with an agent until two installs of it can be at work at once."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from gateproof.conformance.kit.agent.launch_lock import LaunchLock

GIVEN = "https://127.0.0.1:14001/callback"
OWN, OWN_ELSEWHERE = "https://localhost:8765/signed-in", "https://localhost:8766/signed-in"


@pytest.mark.parametrize(
    ("registered", "one_by_one"),
    [
        ([], True),
        ([[]], True),
        ([[GIVEN]], False),
        ([[OWN]], True),
        ([[OWN], [OWN]], True),
        ([[GIVEN, OWN]], True),
        ([[GIVEN, OWN], [GIVEN, OWN]], True),
        ([[OWN], [OWN_ELSEWHERE]], False),
        ([["https://agent.example:port/"]], True),
    ],
)
def test_turns_are_taken_until_installs_have_ports_of_their_own(
    tmp_path: Path, registered: list[list[str]], one_by_one: bool
) -> None:
    turns, others = LaunchLock(tmp_path / "turns"), LaunchLock(tmp_path / "turns")
    for uris in registered:
        turns.look(GIVEN, uris)
    came = threading.Event()

    def launch() -> None:
        with turns.taken():
            came.set()

    thread = threading.Thread(target=launch)
    with others.taken():
        thread.start()
        assert came.wait(0.3) is not one_by_one
    thread.join(10.0)
    assert came.is_set()
