"""Compares the output files with the seal and with the outputs that the record gives."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gateproof.reports import seal
from gateproof.reports.findings import Concern, Finding
from gateproof.reports.plain_files import read_beginning
from gateproof.reports.record import FILE
from gateproof.reports.seal_reader import Sealed
from gateproof.reports.strict import Malformed, decode
from gateproof.reports.verdicts import RunResult

Render = Callable[[str, RunResult], Mapping[str, bytes]]


@dataclass(frozen=True, kw_only=True, slots=True)
class _File:
    """An output file in the list of the seal."""

    format: str
    name: str
    digest: Mapping[str, str]


def differences(
    result: RunResult,
    sealed: Sealed,
    files: Mapping[str, Path],
    *,
    render: Render,
    formats: Collection[str],
) -> Iterator[Finding]:
    """Every difference between the seal or an output file and the record."""
    listed = _listed(sealed)
    drawn = {
        name: render(name, result)
        for name in dict.fromkeys(file.format for file in listed)
        if name in formats
    }
    yield from _statements(result, sealed, drawn)
    for file in listed:
        if file.format not in drawn:
            text = f"has the format {file.format!r}, which this version does not know"
            yield Finding(concern=Concern.PROJECTION, file=file.name, text=text)
        elif file.name not in files:
            text = "is missing, but the seal lists it: it was removed"
            yield Finding(concern=Concern.PROJECTION, file=file.name, text=text)
        elif (expected := drawn[file.format].get(file.name)) is not None:
            yield from _compared(result, file.name, files[file.name], expected)
    names = {file.name for file in listed} | {FILE, *seal.FILES}
    unlisted = [name for name in files if name not in names]
    if unlisted:
        yield from _unlisted(unlisted, result, files, render=render, formats=formats)


def _listed(sealed: Sealed) -> tuple[_File, ...]:
    """The files in the seal; a malformed list is found when the whole statement is compared."""
    try:
        return decode(tuple[_File, ...], _predicate(sealed).get("files"), "files")
    except Malformed:
        return ()


def _statements(
    result: RunResult, sealed: Sealed, drawn: Mapping[str, Mapping[str, bytes]]
) -> Iterator[Finding]:
    if sealed.key is None:
        return
    signer = _predicate(sealed).get("signer")
    ephemeral = isinstance(signer, dict) and signer.get("kind") == seal.EPHEMERAL
    expected = seal.statements(result, drawn, sealed.key, ephemeral=ephemeral, before=_before(sealed))
    for name, payload in sealed.payloads.items():
        said, right = _object(payload), _object(expected[name])
        if said.get("subject") != right["subject"]:
            digest = result.run["evidence_digest"]
            text = f"its SHA-256 is {digest}, which is not the one in {name}"
            yield Finding(concern=Concern.SEAL, file=FILE, text=text)
        elif payload != expected[name]:
            text = f"its {_difference(said, right)} does not match the record and the files generated from it"
            yield Finding(concern=Concern.SEAL, file=name, text=text)


def _before(sealed: Sealed) -> tuple[str, ...]:
    """The digests of the seals that this one says it replaces; the folder does not have those seals."""
    said = _predicate(sealed).get("resealed")
    if not isinstance(said, list):
        return ()
    return tuple(str(each.get("sha256")) for each in said if isinstance(each, dict))


def _unlisted(
    names: Collection[str],
    result: RunResult,
    files: Mapping[str, Path],
    *,
    render: Render,
    formats: Collection[str],
) -> Iterator[Finding]:
    """A file generated later from the same record is accepted; any other unlisted file is a finding."""
    later = {name: content for form in formats for name, content in render(form, result).items()}
    for name in names:
        if name in later:
            yield from _compared(result, name, files[name], later[name])
        else:
            text = "is not part of this folder: the seal does not list it, and no output has this name"
            yield Finding(concern=Concern.UNLISTED, file=name, text=text)


def _compared(result: RunResult, name: str, path: Path, expected: bytes) -> Iterator[Finding]:
    content = read_beginning(path, len(expected) + 1)
    if content == expected:
        return
    pairs = enumerate(zip(content, expected, strict=False))
    place = next((place for place, (one, other) in pairs if one != other), min(len(content), len(expected)))
    yield Finding(
        concern=Concern.PROJECTION,
        file=name,
        line=expected.count(b"\n", 0, place) + 1,
        text="differs from what the record gives"
        f" (which gateproof {result.run['harness_version']} wrote; another version may write it differently)",
    )


def _predicate(sealed: Sealed) -> dict[str, Any]:
    predicate = _object(sealed.payloads.get(seal.VERDICTS, b"")).get("predicate")
    return predicate if isinstance(predicate, dict) else {}


def _object(payload: bytes) -> dict[str, Any]:
    try:
        found = json.loads(payload)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _difference(said: Mapping[str, Any], right: Mapping[str, Any]) -> str:
    """The first key that differs, also inside the predicate."""
    for key in sorted({*said, *right}):
        one, other = said.get(key), right.get(key)
        if one != other:
            inside = isinstance(one, dict) and isinstance(other, dict) and key == "predicate"
            return f"{key}: {_difference(one, other)}" if inside else key  # type: ignore[arg-type]
    return "form"
