"""How many workers there are follows from the processors and the memory, a container's own included."""

from __future__ import annotations

from pathlib import Path

import pytest

from gateproof.conformance.run import usual_workers as workers


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Four processors and plenty of memory; what stands in the folder is said of the container."""
    monkeypatch.setattr("os.sched_getaffinity", lambda _: set(range(4)), raising=False)
    monkeypatch.setattr(workers, "_CONTAINER", tmp_path)
    said_by = workers._said_by
    meminfo = "MemTotal: 99 kB\nMemAvailable:   64000000 kB\n"
    monkeypatch.setattr(
        workers, "_said_by", lambda file: meminfo if file.name == "meminfo" else said_by(file)
    )
    return tmp_path


@pytest.mark.parametrize(("role", "number"), [("gateway", 48), ("agent", 32), ("service", 64)])
def test_waiting_trials_share_processors(machine: Path, role: str, number: int) -> None:
    assert workers.workers_of_a_proof(role) == number


def test_container_without_limits_changes_nothing(machine: Path) -> None:
    (machine / "cpu.max").write_text("max 100000\n")
    (machine / "memory.max").write_text("max\n")
    (machine / "memory.current").write_text("1000\n")
    assert workers.workers_of_a_proof("gateway") == 48


def test_container_has_the_last_word(machine: Path) -> None:
    (machine / "cpu.max").write_text("150000 100000\n")
    assert workers.workers_of_a_proof("gateway") == 18
    (machine / "memory.max").write_text(f"{2 * 2**30}\n")
    (machine / "memory.current").write_text(f"{2**30}\n")
    assert workers.workers_of_a_proof("gateway") == 2


def test_one_works_where_there_is_no_room(machine: Path) -> None:
    (machine / "memory.max").write_text("1000\n")
    (machine / "memory.current").write_text("1000\n")
    assert workers.workers_of_a_proof("service") == 1


@pytest.mark.parametrize(("checks", "number"), [(1, 1), (99, 1), (100, 4), (1400, 4)])
def test_run_of_many_checks_has_a_worker_for_each_processor(machine: Path, checks: int, number: int) -> None:
    assert workers.workers_of_a_run(checks, "gateway", own_targets=False) == number


@pytest.mark.parametrize(("checks", "number"), [(99, 1), (100, 8), (1400, 8)])
def test_workers_with_targets_of_their_own_are_twice_as_many(machine: Path, checks: int, number: int) -> None:
    assert workers.workers_of_a_run(checks, "gateway", own_targets=True) == number


@pytest.mark.parametrize(("processors", "number"), [(1, 4), (2, 8), (4, 8)])
def test_services_of_their_own_are_waited_for_by_more_workers(
    machine: Path, processors: int, number: int
) -> None:
    (machine / "cpu.max").write_text(f"{processors}00000 100000\n")
    assert workers.workers_of_a_run(500, "service", own_targets=True) == number


def test_run_of_services_has_no_more_workers_than_there_is_memory_for(machine: Path) -> None:
    (machine / "memory.max").write_text(f"{2 * 2**30}\n")
    (machine / "memory.current").write_text(f"{2**30}\n")
    assert workers.workers_of_a_run(500, "service", own_targets=True) == 2


def test_run_has_a_worker_where_the_container_has_half_a_processor(machine: Path) -> None:
    (machine / "cpu.max").write_text("50000 100000\n")
    assert workers.workers_of_a_run(1400, "gateway", own_targets=False) == 1
    assert workers.workers_of_a_run(1400, "gateway", own_targets=True) == 1
