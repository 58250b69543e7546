"""Wrong usage ends at once with one clear line and exit code 2; nothing is started for it."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from warm import WARM

GOOD = """
[target]
role = "gateway"
name = "acme"
version = "1"
base_url = "http://127.0.0.1:1"
core_url = "http://127.0.0.1:1"
"""
WRONG_FILES = {
    "unknown key": (GOOD + '[[projects]]\nid = "p"\nproxy_cilents = []\n', "did you mean 'proxy_clients'?"),
    "wrong type": (GOOD.replace('"1"', "1"), "version: found"),
    "missing secret": (
        GOOD + '[[projects]]\nid = "p"\nagent_policy = "approve"\nresources = []\n'
        '[[projects.proxy_clients]]\nid = "x"\nsecret_env = "NOT_SET_ANYWHERE"\n',
        "NOT_SET_ANYWHERE",
    ),
    "role without its table": (
        '[target]\nrole = "service"\nname = "s"\nservice_url = "http://127.0.0.1:1"\n',
        "operation",
    ),
    "no role": ('[target]\nname = "s"\n', "role"),
    "not TOML": ("[target\n", "line 1"),
    "sign-in that is not here": (GOOD + '[sign_in]\nkind = "chromium"\n', "expected a Chromium here; "),
}


def gateproof(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*WARM, "gateproof", *arguments],
        cwd=folder,
        env={**os.environ, "CHROMIUM": "/nowhere/chromium"},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def one_line(done: subprocess.CompletedProcess[str]) -> str:
    assert done.returncode == 2, done
    assert done.stdout == ""
    assert done.stderr.count("\n") == 1, done.stderr
    return done.stderr


@pytest.mark.parametrize(("text", "hint"), WRONG_FILES.values(), ids=WRONG_FILES)
@pytest.mark.parametrize("command", ["run", "doctor"])
def test_wrong_target_file_is_named_in_one_line(command: str, text: str, hint: str, tmp_path: Path) -> None:
    (tmp_path / "acme.toml").write_text(text)
    said = one_line(gateproof(tmp_path, command, "--target", "acme.toml"))
    assert "acme.toml" in said
    assert hint in said


@pytest.mark.parametrize("command", ["run", "doctor"])
def test_missing_target_file_is_named(command: str, tmp_path: Path) -> None:
    assert "absent.toml" in one_line(gateproof(tmp_path, command, "--target", "absent.toml"))


@pytest.mark.parametrize(
    ("arguments", "hint"),
    [
        (["--only", "REDEM-05"], "REDEEM-05"),
        (["--skip", "nothing-like-it"], "no rule matches"),
        (["--only", "DISC-01", "--skip", "DISC-*"], "leave no rule"),
        (["--certify", "--only", "DISC-01"], "--certify"),
        (["--certify", "--skip", "DISC-01"], "--certify"),
        (["--out", "file"], "file"),
    ],
)
def test_options_that_make_no_sense_are_refused(arguments: list[str], hint: str, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    assert hint in one_line(gateproof(tmp_path, "run", *arguments))


def test_role_of_the_command_has_to_be_the_files(tmp_path: Path) -> None:
    (tmp_path / "acme.toml").write_text(GOOD)
    said = one_line(gateproof(tmp_path, "run", "agent", "--target", "acme.toml"))
    assert "'gateway'" in said
    assert "'agent'" in said


@pytest.mark.parametrize(
    "arguments", [[], ["run", "--workers", "0"], ["run", "--seed", "x"], ["run", "nobody"]]
)
def test_command_line_that_cannot_be_read_is_wrong_usage(arguments: list[str], tmp_path: Path) -> None:
    assert gateproof(tmp_path, *arguments).returncode == 2
