"""Shards join to one run, a baseline is held to its word, and a killed run still tells what it saw."""

from __future__ import annotations

import base64
import hashlib
import json
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from warm import WARM

from gateproof.reports.chain import START, encode, link
from gateproof.reports.signing import public_pem

SOME = ("--only", "DISC-0[1-3]", "--only", "CLAIM-0[12]", "--seed", "3")


def gateproof(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*WARM, "gateproof", *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=400,
        check=False,
    )


def verdicts(folder: Path) -> dict[str, str]:
    report: dict[str, Any] = json.loads((folder / "report.json").read_text())
    return {check["id"]: check["verdict"] for rule in report["rules"] for check in rule["checks"]}


def test_two_shards_are_one_run(tmp_path: Path) -> None:
    whole = gateproof(tmp_path, "run", *SOME, "--quiet", "--out", "whole")
    for part in ("1", "2"):
        done = gateproof(tmp_path, "run", *SOME, "--quiet", "--shard", f"{part}/2", "--out", part)
        assert done.returncode == 0, done

    merged = gateproof(tmp_path, "merge", "1", "2", "--out", "merged")
    assert (merged.returncode, merged.stdout) == (whole.returncode, whole.stdout)
    assert verdicts(tmp_path / "merged") == verdicts(tmp_path / "whole")
    assert not set(verdicts(tmp_path / "1")) & set(verdicts(tmp_path / "2"))
    assert gateproof(tmp_path, "verify", "merged").returncode == 0
    assert "no rule changed" in gateproof(tmp_path, "diff", "whole", "merged").stdout

    again = gateproof(tmp_path, "merge", "1", "1", "--out", "doubled")
    assert again.returncode == 2
    assert again.stderr.startswith("gateproof: ")
    assert gateproof(tmp_path, "merge", "1", "--out", "half").returncode == 2


@pytest.mark.parametrize(
    ("entry", "hint"),
    [
        ('rule = "DISC-01"\nreason = "known"\nexpires = 2999-01-01', "DISC-01, which no longer fails"),
        ('rule = "DISC-01"\nreason = "known"\nexpires = 2020-01-01', "DISC-01"),
    ],
    ids=["stale", "past its date"],
)
def test_baseline_entry_that_is_out_of_order_fails_the_run(entry: str, hint: str, tmp_path: Path) -> None:
    (tmp_path / "baseline.toml").write_text(f"[[baseline]]\n{entry}\n")
    done = gateproof(tmp_path, "run", "--only", "DISC-01", "--baseline", "baseline.toml", "--quiet")
    assert done.returncode == 1
    assert hint in done.stdout


def test_baseline_that_cannot_be_read_is_wrong_usage(tmp_path: Path) -> None:
    (tmp_path / "baseline.toml").write_text('[[baseline]]\nrule = "DISK-01"\n')
    done = gateproof(tmp_path, "run", "--only", "DISC-01", "--baseline", "baseline.toml")
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1


def test_killed_run_tells_what_it_saw(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "gateproof", "run", "--quiet", "--out", "killed"]
    process = subprocess.Popen(command, cwd=tmp_path, start_new_session=True)
    record = tmp_path / "killed" / "evidence.jsonl"
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and process.poll() is None:
        if record.exists() and record.stat().st_size > 200_000:
            break
        time.sleep(0.02)
    process.send_signal(signal.SIGKILL)
    assert process.wait(10) == -signal.SIGKILL

    drawn = gateproof(tmp_path, "report", "killed")
    assert drawn.returncode == 0
    assert "the run was killed or crashed" in drawn.stderr
    assert "passed" in verdicts(tmp_path / "killed").values()
    checked = gateproof(tmp_path, "verify", "killed")
    assert checked.returncode == 1
    assert "incomplete" in checked.stdout


def test_part_that_contradicts_its_seal_is_not_signed_again(tmp_path: Path) -> None:
    gateproof(tmp_path, "run", "--only", "DISC-01", "--out", "part")
    record = tmp_path / "part" / "evidence.jsonl"
    lines = record.read_bytes().splitlines()
    # The chain is made good again, as anybody can who may write there.
    said = [json.loads(line) for line in lines]
    said[0]["target"]["name"] = "another"
    record.write_bytes(rechained(said))

    for command in (
        ("merge", "part", "--out", "joined"),
        ("report", "part", "--sign-key", str(tmp_path / "no.pem")),
    ):
        done = gateproof(tmp_path, *command)
        assert done.returncode == 2
        assert "an altered folder is not signed" in done.stderr
    assert not (tmp_path / "joined").exists()


def new_key(folder: Path, name: str) -> tuple[str, str]:
    """The paths of a private key and its public one."""
    private = Ed25519PrivateKey.generate()
    form = serialization.PrivateFormat.PKCS8
    (folder / f"{name}.pem").write_bytes(
        private.private_bytes(serialization.Encoding.PEM, form, serialization.NoEncryption())
    )
    (folder / f"{name}.pub.pem").write_bytes(public_pem(private.public_key()))
    return f"{name}.pem", f"{name}.pub.pem"


def test_only_what_verifies_with_the_signers_key_is_signed_again(tmp_path: Path) -> None:
    (ours, ours_public), (theirs, theirs_public) = new_key(tmp_path, "ours"), new_key(tmp_path, "theirs")
    gateproof(tmp_path, "run", "--only", "DISC-01", "--sign-key", ours, "--out", "run")
    before = (tmp_path / "run" / "seal.verdicts.dsse.json").read_bytes()

    for refused in (("--sign-key", theirs), ("--sign-key", theirs, "--key", theirs_public)):
        done = gateproof(tmp_path, "report", "run", *refused)
        assert done.returncode == 2, done.stdout
        assert "--key" in done.stderr or "not verified with" in done.stderr
    assert (tmp_path / "run" / "seal.verdicts.dsse.json").read_bytes() == before

    signed = gateproof(tmp_path, "report", "run", "--sign-key", theirs, "--key", ours_public)
    assert signed.returncode == 0, signed.stderr
    assert gateproof(tmp_path, "verify", "run", "--key", theirs_public).returncode == 0
    envelope = json.loads((tmp_path / "run" / "seal.verdicts.dsse.json").read_bytes())
    predicate = json.loads(base64.b64decode(envelope["payload"]))["predicate"]
    assert predicate["resealed"] == [{"sha256": hashlib.sha256(before).hexdigest()}]


def test_folder_with_another_run_is_replaced_as_a_whole(tmp_path: Path) -> None:
    gateproof(tmp_path, "run", "--only", "DISC-01", "--out", "one")
    gateproof(tmp_path, "run", "--only", "DISC-02", "--format", "all", "--out", "other")

    assert gateproof(tmp_path, "report", "one", "--out", "other").returncode == 0

    assert {name.partition("/")[0] for name in verdicts(tmp_path / "other")} == {"DISC-01"}
    assert gateproof(tmp_path, "verify", "other").returncode == 0


def test_parts_are_signed_with_a_key_only_if_their_signer_is_known(tmp_path: Path) -> None:
    ours, ours_public = new_key(tmp_path, "ours")
    for part in ("1", "2"):
        run = ("run", "--only", "DISC-0[12]", "--shard", f"{part}/2", "--sign-key", ours, "--out", part)
        gateproof(tmp_path, *run)

    assert gateproof(tmp_path, "merge", "1", "2", "--sign-key", ours, "--out", "x").returncode == 2
    assert gateproof(tmp_path, "merge", "1", "2", "--out", "plain").returncode == 0
    assert "integrity, not identity" in gateproof(tmp_path, "verify", "plain").stdout
    signed = ("merge", "1", "2", "--sign-key", ours, "--key", ours_public, "--out", "signed")
    assert gateproof(tmp_path, *signed).returncode == 0
    assert gateproof(tmp_path, "verify", "signed", "--key", ours_public).returncode == 0

    for name in ("seal.verdicts.dsse.json", "seal.test-result.dsse.json", "seal.pub.pem"):
        (tmp_path / "1" / name).unlink()
    unsealed = gateproof(tmp_path, "merge", "1", "2", "--out", "y")
    assert unsealed.returncode == 2
    assert "is not sealed" in unsealed.stderr


def rechained(said: list[dict[str, Any]]) -> bytes:
    written, prev = [], START
    for values in said:
        line = encode({**values, "prev": prev})
        written.append(line)
        prev = link(line)
    return b"".join(written)
