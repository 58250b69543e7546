"""The shards of a run, joined, are the run; what does not belong together is refused."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from gateproof.reports.evidence import LeakFound
from gateproof.reports.header import Harness, Spec
from gateproof.reports.merge import merge
from gateproof.reports.record import FILE, Record, read, result_of
from gateproof.reports.shards import CannotMerge


def shard(kit: Any, number: int, of: int = 2, **changes: Any) -> tuple[str, Record]:
    """Every so manieth rule, as a run with `--shard` takes them."""
    planned = changes.pop("planned", kit.plan()[number - 1 :: of])
    mine = {rule.id for rule in planned}
    checks = changes.pop("checks", [check for check in kit.checks() if check.rule in mine])
    defaults = {"shard": f"{number}/{of}", "run_id": f"0000000{number}"}
    name = f"shard-{number}-of-{of}"
    return name, read(kit.record(name, planned=planned, checks=checks, **{**defaults, **changes}))


def joined(kit: Any, tmp_path: Path, *parts: tuple[str, Record]) -> Record:
    path = tmp_path / "joined" / FILE
    path.parent.mkdir(exist_ok=True)
    merge(parts, path, scan=kit.no_leak)
    return read(path)


@pytest.mark.parametrize("of", [2, 3, 7, 9])
def test_joined_shards_give_the_rules_and_verdicts_of_one_run(kit: Any, tmp_path: Path, of: int) -> None:
    whole = kit.result("whole")
    parts = [shard(kit, number, of) for number in range(1, of + 1)]
    result = result_of(joined(kit, tmp_path, *reversed(parts)))
    assert result.rules == whole.rules
    assert (result.verdict, result.reason, result.counts) == (whole.verdict, whole.reason, whole.counts)
    assert result.run["complete"] is True
    assert result.run["selection"] == whole.run["selection"]


def test_joined_record_names_the_records_it_was_made_of(kit: Any, tmp_path: Path) -> None:
    parts = [shard(kit, 1, started="2026-11-21T12:00:00+02:00"), shard(kit, 2)]
    header = joined(kit, tmp_path, *parts).header
    for part, (name, record), number in zip(header.parts, parts, (1, 2), strict=True):
        raw = (kit.folder / name / FILE).read_bytes()
        assert part.digest == record.digest == hashlib.sha256(raw).hexdigest()
        assert (part.shard, part.run_id) == (f"{number}/2", f"0000000{number}")
    assert (header.options.shard, header.options.workers) == ("", 4)


def test_joined_record_is_sealed_and_verified_like_any_other(kit: Any, tmp_path: Path) -> None:
    joined(kit, tmp_path, shard(kit, 1, public=(kit.public_name,)), shard(kit, 2))
    bundle = replace(kit.bundle("whole"), folder=tmp_path / "joined")
    bundle.draw()
    assert bundle.first() == ""


def test_joining_the_same_parts_gives_the_same_bytes(kit: Any, tmp_path: Path) -> None:
    one, two = shard(kit, 1), shard(kit, 2)
    assert joined(kit, tmp_path, one, two).digest == joined(kit, tmp_path, two, one).digest


def test_shard_that_was_cut_short_cuts_the_whole_short(kit: Any, tmp_path: Path) -> None:
    planned = kit.plan()[1::2]
    parts = shard(kit, 1), shard(kit, 2, planned=planned, checks=(), cut_short="the target is unreachable")
    record = joined(kit, tmp_path, *parts)
    assert record.footer is not None
    assert record.footer.cut_short == "shard 2/2: the target is unreachable"
    assert result_of(record).run["complete"] is False


OTHERS = {
    "seed": {"seed": 8},
    "profile": {"profile": "campaign"},
    "selection": {"only": ("REDEEM-*",)},
    "strictness": {"strict": True},
    "setting of faults": {"faults": False},
    "budget of examples": {"examples": 5},
    "role": {"role": "service"},
    "spec": {"spec": Spec(identity="x", version="1", digest="0" * 64)},
    "catalogue": {"catalogue_digest": "0" * 64},
    "harness": {"harness": Harness(version="0.1.0", commit="b" * 40, dirty=True)},
}


@pytest.mark.parametrize("what", OTHERS)
def test_shards_of_different_runs_are_refused(kit: Any, tmp_path: Path, what: str) -> None:
    with pytest.raises(CannotMerge, match=rf"^shard-2-of-2: has another {what} than shard-1-of-2$"):
        joined(kit, tmp_path, shard(kit, 1), shard(kit, 2, **OTHERS[what]))
    assert not (tmp_path / "joined" / FILE).exists()


@pytest.mark.parametrize("field", ["name", "version", "configuration_digest"])
def test_shards_of_different_targets_are_refused(kit: Any, tmp_path: Path, field: str) -> None:
    target = replace(kit.header().target, **{field: "other"})
    with pytest.raises(CannotMerge, match="shard-2-of-2: has another target"):
        joined(kit, tmp_path, shard(kit, 1), shard(kit, 2, target=target))


def test_target_that_each_shard_launched_anew_is_the_same(kit: Any, tmp_path: Path) -> None:
    target = replace(kit.header().target, base_url="https://127.0.0.1:9443", tls_key_digest="1" * 64)
    assert joined(kit, tmp_path, shard(kit, 1), shard(kit, 2, target=target)).faults == ()


def test_gap_overlap_and_doubles_are_refused(kit: Any, tmp_path: Path) -> None:
    with pytest.raises(CannotMerge, match="shard 2/3 is missing"):
        joined(kit, tmp_path, shard(kit, 1, 3), shard(kit, 3, 3))
    with pytest.raises(CannotMerge, match="shard 1/2 was given twice"):
        joined(kit, tmp_path, shard(kit, 1), shard(kit, 1))
    with pytest.raises(CannotMerge, match="overlaps with shard-1-of-2: both planned DISC-01"):
        joined(kit, tmp_path, shard(kit, 1), shard(kit, 2, planned=kit.plan()[:1]))
    with pytest.raises(CannotMerge, match="divided into 2 and 3 shards"):
        joined(kit, tmp_path, shard(kit, 1), shard(kit, 2, 3))
    with pytest.raises(CannotMerge, match="is whole, not one of several shards"):
        joined(kit, tmp_path, shard(kit, 1), ("whole", read(kit.record("whole"))))
    with pytest.raises(CannotMerge, match="fewer than two"):
        joined(kit, tmp_path, shard(kit, 1))


def test_part_that_does_not_hold_is_refused(kit: Any, tmp_path: Path) -> None:
    with pytest.raises(CannotMerge, match=r"shard-2-of-2: evidence\.jsonl:\d+: incomplete"):
        joined(kit, tmp_path, shard(kit, 1), shard(kit, 2, ended=False))
    name, _ = shard(kit, 2)
    path = kit.folder / name / FILE
    path.write_bytes(path.read_bytes().replace(b"acme", b"asme"))
    with pytest.raises(CannotMerge, match=r"shard-2-of-2: evidence\.jsonl:2: does not follow from line 1"):
        joined(kit, tmp_path, shard(kit, 1), (name, read(path)))


def test_secret_in_a_part_does_not_get_into_the_whole(kit: Any, tmp_path: Path) -> None:
    with pytest.raises(LeakFound):
        merge(
            [shard(kit, 1), shard(kit, 2)],
            tmp_path / FILE,
            scan=lambda text: "token" if "</script>" in text else None,
        )
