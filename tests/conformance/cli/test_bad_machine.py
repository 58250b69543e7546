"""What a bad machine does to a run: there is a verdict that is right, or none, and one line says why.

The bad machine is made for the one process: in a mount namespace, by a limit, or by a preloaded clock.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

import pytest
from warm import WARM

pytestmark = pytest.mark.attack

WHOLE = "GATEPROOF_WHOLE" in os.environ
RUN = ("run", "gateway", "--no-faults", "--examples", "2", "--workers", "2", "--only", "DISC-*")
NO_VERDICT = 3
JUMPS_S = (7200, -7200) if WHOLE else (7200,)
# From too little for the first line to almost enough.
DISKS = ("4k", "16k", "32k", "48k", "64k") if WHOLE else ("4k", "32k")
DESCRIPTORS = (16, 24, 32, 40, 48, 64, 96) if WHOLE else (24, 48)


def gateproof(
    folder: Path, *arguments: str, before: str = "", environment: dict[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Runs a command after the shell has made this machine what the test wants."""
    command = [*WARM, "gateproof", *arguments]
    if before:
        command = ["sh", "-ec", f'{before}; exec "$@"', "sh", sys.executable, "-m", "gateproof", *arguments]
    return subprocess.run(
        command,
        cwd=folder,
        env={**os.environ, **(environment or {})},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


def in_a_namespace(folder: Path, mounting: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """The command with mounts that nobody else sees."""
    command = ["unshare", "--mount", "--map-root-user", "sh", "-ec", f'{mounting}; exec "$@"', "sh"]
    return subprocess.run(
        [*command, sys.executable, "-m", "gateproof", *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


def report_of(folder: Path) -> dict[str, Any]:
    report: dict[str, Any] = json.loads((folder / "gateproof-report" / "report.json").read_text())
    return report


@pytest.mark.needs("mounts")
@pytest.mark.parametrize("size", DISKS)
def test_report_folder_on_a_full_disk(size: str, tmp_path: Path) -> None:
    """What was recorded until then can be copied and drawn elsewhere."""
    out = tmp_path / "out"
    out.mkdir()
    mounting = f"mount -t tmpfs -o size={size} none out"
    script = f'{mounting}; "$@" || code=$?; cp -r out kept; exit $code'
    namespace = ["unshare", "--mount", "--map-root-user", "sh", "-ec", script, "sh"]
    done = subprocess.run(
        [*namespace, sys.executable, "-m", "gateproof", *RUN, "--quiet", "--out", "out"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    said = done.stdout + done.stderr
    assert done.returncode == NO_VERDICT, said
    assert "No space left on device" in done.stderr
    assert done.stderr.count("\n") == 1, done.stderr

    drawn = gateproof(tmp_path, "report", "kept", "--out", "drawn")
    assert "Traceback" not in drawn.stderr
    if drawn.returncode == 0:
        report = json.loads((tmp_path / "drawn" / "report.json").read_text())
        # Where the record fits and the outputs do not, the run is whole.
        assert report["run"]["complete"] is (report["verdict"] == "conformant")
    else:
        assert drawn.returncode == 2, drawn.stderr
        assert drawn.stderr.count("\n") == 1


@pytest.mark.needs("mounts")
def test_temporary_folder_on_a_full_disk(tmp_path: Path) -> None:
    (tmp_path / "scratch").mkdir()
    mounting = "mount -t tmpfs -o size=8k none scratch; export TMPDIR=$PWD/scratch"
    done = in_a_namespace(tmp_path, mounting, *RUN, "--quiet")
    assert done.returncode == NO_VERDICT, done.stdout + done.stderr
    assert done.stderr.count("\n") <= 1, done.stderr
    assert "No space left on device" in done.stdout + done.stderr


@pytest.mark.needs("mounts")
def test_report_folder_that_is_read_only(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    done = in_a_namespace(tmp_path, "mount -t tmpfs -o ro none out", *RUN, "--quiet", "--out", "out/here")
    assert done.returncode in {2, NO_VERDICT}
    assert "out/here" in done.stderr
    assert done.stderr.count("\n") == 1, done.stderr


@pytest.mark.needs("mounts")
@pytest.mark.parametrize("command", ["run", "prove"])
def test_machine_without_shared_memory(command: str, tmp_path: Path) -> None:
    arguments = RUN if command == "run" else ("prove", "--quick", "--only", "discovery-is-a-list")
    done = in_a_namespace(tmp_path, "mount -t tmpfs -o ro none /dev/shm", *arguments)
    said = done.stdout + done.stderr
    assert "Traceback" not in said
    if command == "run":
        assert done.returncode == 0, said
    else:
        assert done.returncode in {0, NO_VERDICT}, said
        assert done.returncode == 0 or done.stderr.count("\n") == 1, said


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The reference on a good machine, and a target file for it."""
    folder = tmp_path_factory.mktemp("served")
    command = [sys.executable, "-m", "gateproof", "serve", "--json"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        world = json.loads("".join(_up_to_the_end_of_an_object(process.stdout)))
        file = folder / "served.toml"
        file.write_text(
            '[target]\nrole = "gateway"\nname = "served"\nversion = "1"\n'
            f'base_url = "{world["base_url"]}"\ncore_url = "{world["core_url"]}"\n'
            f'ca_file = "{world["ca_file"]}"\n'
            f'[control]\nurl = "{world["control_url"]}"\n'
        )
        yield file
    finally:
        process.terminate()
        process.wait(30)
        process.stdout.close()


def _up_to_the_end_of_an_object(lines: IO[str]) -> Iterator[str]:
    for line in lines:
        yield line
        if line == "}\n":
            return


@pytest.mark.parametrize("limit", DESCRIPTORS)
def test_few_open_files_are_no_failure_of_the_target(limit: int, served: Path, tmp_path: Path) -> None:
    only = ("--only", "DISC-*", "--only", "ROBUST-05", "--only", "CODE-10")
    arguments = ("run", "--target", str(served), "--no-faults", "--examples", "2", "--workers", "1", *only)
    done = gateproof(tmp_path, *arguments, before=f"ulimit -n {limit}")
    said = done.stdout + done.stderr
    assert "Traceback" not in said
    assert done.returncode in {0, NO_VERDICT}, said


@pytest.fixture(scope="module")
def jumping_clock(tmp_path_factory: pytest.TempPathFactory) -> Path:
    library = tmp_path_factory.mktemp("clock") / "jumping_clock.so"
    source = Path(__file__).with_name("jumping_clock.c")
    subprocess.run(["cc", "-shared", "-fPIC", "-o", str(library), str(source), "-ldl"], check=True)
    return library


@pytest.mark.needs("cc")
@pytest.mark.parametrize("seconds", JUMPS_S)
def test_clock_that_jumps_is_no_failure_of_the_target(
    seconds: int, jumping_clock: Path, tmp_path: Path
) -> None:
    """The clock of all processes jumps while checks run; what they saw then shows nothing."""
    jump = tmp_path / "jump"
    environment = {
        **os.environ,
        "LD_PRELOAD": str(jumping_clock),
        "GATEPROOF_TEST_JUMP_FILE": str(jump),
        "GATEPROOF_TEST_JUMP_S": str(seconds),
    }
    rules = [part for rule in ("CODE-*", "REDEEM-0*", "AUTHZ-0*", "VAULT-0*") for part in ("--only", rule)]
    command = [sys.executable, "-m", "gateproof", "run", "gateway", "--no-faults", "--workers", "2", *rules]
    with subprocess.Popen(
        [*command, "--examples", "2"],
        cwd=tmp_path,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as process:
        assert process.stdout is not None
        heard = []
        for line in process.stdout:
            heard.append(line)
            if "checks, " in line and not jump.exists():
                time.sleep(1)
                jump.touch()
        code = process.wait(30)
    said = "".join(heard)
    assert jump.exists(), said
    assert "Traceback" not in said
    assert code == NO_VERDICT, said
    found = {
        check["id"]: (check["verdict"], check["message"])
        for rule in report_of(tmp_path)["rules"]
        for check in rule["checks"]
    }
    assert {name: said for name, (verdict, said) in found.items() if verdict == "failed"} == {}
    broken = [said for verdict, said in found.values() if verdict == "error"]
    assert broken
    assert all("the clock of this machine was set" in said for said in broken)
