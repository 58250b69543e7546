"""Reads the files of a proof's shards; refuses files that do not belong together."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from gateproof.reports.shards import CannotMerge, in_order

_NEEDED = ("complete", "took_s", "figures", "trials")


def shards_in(folders: Sequence[Path], file: str, schema: str, alike: Sequence[str]) -> list[dict[str, Any]]:
    """The documents of all shards, in order; members in `alike` are equal in all. Raises CannotMerge."""
    read = [(str(folder), _read(folder / file, schema, alike)) for folder in folders]
    first_name, first = read[0]
    for name, part in read:
        for what in alike:
            if part[what] != first[what]:
                raise CannotMerge(f"{name}: has another {what} than {first_name}")
    ordered = in_order([(name, part.get("shard", ""), part) for name, part in read])
    for name, part in ordered:
        if not part["complete"]:
            raise CannotMerge(f"{name}: is not complete: continue it with --resume")
    return [part for _, part in ordered]


def _read(path: Path, schema: str, alike: Sequence[str]) -> dict[str, Any]:
    try:
        said = json.loads(path.read_bytes())
    except OSError as error:
        raise CannotMerge(f"{path}: {error.strerror}") from None
    except ValueError:
        said = None
    if not isinstance(said, dict) or said.get("schema") != schema:
        raise CannotMerge(f"{path}: is no {schema}")
    if "shard" not in said:
        raise CannotMerge(f"{path}: is whole, not one of several shards")
    if missing := [name for name in (*alike, *_NEEDED) if name not in said]:
        raise CannotMerge(f"{path}: has no {missing[0]}")
    return said
