"""What the reference gateway keeps in a file is there in the next process."""

from __future__ import annotations

from pathlib import Path

from gateproof.reference.gateway.apps import create_apps
from gateproof.reference.gateway.clock import Clock
from gateproof.reference.gateway.records import Project
from gateproof.reference.gateway.state_file import StateFile

PLACE = {"base_url": "https://127.0.0.1:9001", "core_url": "https://127.0.0.1:9002"}


def test_tables_keys_and_clock_are_kept(tmp_path: Path) -> None:
    file, clock = StateFile(tmp_path / "state"), Clock()
    before = create_apps(**PLACE, clock=clock, state=file).gateway
    before.store.projects["prj_1"] = Project(id="prj_1", name="one", agent_policy="hold")
    clock.advance(3600)
    file.save(before.store, clock)

    later = Clock()
    after = create_apps(**PLACE, clock=later, state=StateFile(tmp_path / "state")).gateway
    assert after.store.projects == before.store.projects
    assert after.store.core_keys.current.kid == before.store.core_keys.current.kid
    assert later.offset_s == clock.offset_s
    assert (tmp_path / "state").stat().st_mode & 0o077 == 0


def test_first_start_is_empty(tmp_path: Path) -> None:
    assert StateFile(tmp_path / "state").load(Clock()) is None
