"""Verifies that the folder of a run is complete and unchanged."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from gateproof.reports import formats as table
from gateproof.reports import leaks
from gateproof.reports.findings import Concern, Finding
from gateproof.reports.plain_files import read_plain
from gateproof.reports.projections import Render, differences
from gateproof.reports.record import FILE, Record, Unreadable, read, result_of
from gateproof.reports.record_consistency import audit
from gateproof.reports.seal_reader import Sealed, open_seal
from gateproof.reports.signing import key_id, public_key
from gateproof.reports.verdicts import RunResult

# Returns the kind of secret that a text contains, or None.
Scan = Callable[[str], str | None]


@dataclass(frozen=True, kw_only=True, slots=True)
class Verified:
    """The result of a verification: the findings, the most important first, and the signer."""

    findings: tuple[Finding, ...]
    signer: str
    result: RunResult | None
    # SHA-256 of the key of a valid seal.
    key_id: str = ""

    @property
    def first(self) -> Finding | None:
        return self.findings[0] if self.findings else None


def verify(
    folder: Path,
    key: bytes | None = None,
    *,
    scan: Scan = leaks.credential_kind,
    render: Render = table.render,
    formats: Collection[str] = table.FORMATS,
) -> Verified:
    """Checks that a folder is consistent, and verifies its signature, with the caller's public key if given.

    ``key`` is a PEM text; an invalid key raises ``KeyProblem``.
    """
    given = public_key(key, "the key that was given") if key is not None else None
    files, strange = _files(folder)
    sealed = open_seal(files, given)
    try:
        record = read(folder / FILE)
    except Unreadable as problem:
        finding = Finding(concern=Concern.RECORD, file=FILE, text=problem.why)
        return Verified(findings=(finding, *sealed.findings), signer=_signer(sealed, given), result=None)
    result = result_of(record)
    inside = audit(record)
    # A killed run leaves a folder without a seal; then its incomplete record comes first.
    first = (*inside, *sealed.findings) if sealed.missing else (*sealed.findings, *inside)
    outside = differences(result, sealed, files, render=render, formats=formats)
    return Verified(
        findings=(*first, *outside, *strange, *_leaks(files, record, scan)),
        signer=_signer(sealed, given),
        result=result,
        key_id="" if sealed.key is None or sealed.findings else key_id(sealed.key),
    )


def _files(folder: Path) -> tuple[dict[str, Path], list[Finding]]:
    """The regular files below the folder by name, and a finding for everything else."""
    plain, strange = {}, []
    for base, folders, names in os.walk(folder):
        folders.sort()
        for name in sorted([*names, *(inner for inner in folders if Path(base, inner).is_symlink())]):
            path = Path(base, name)
            known_as = path.relative_to(folder).as_posix()
            if path.is_file() and not path.is_symlink():
                plain[known_as] = path
            else:
                text = "is not a regular file, and not part of this folder"
                strange.append(Finding(concern=Concern.UNLISTED, file=known_as, text=text))
    return plain, strange


def _signer(sealed: Sealed, given: Ed25519PublicKey | None) -> str:
    """The signer, in words that claim no more than was verified."""
    if sealed.key is None or sealed.findings:
        return "no valid signature"
    if given is not None:
        return f"signed by the given key {key_id(given)}"
    return f"signed by {key_id(sealed.key)}, the key in the folder itself: shows integrity, not identity"


def _leaks(files: Mapping[str, Path], record: Record, scan: Scan) -> Iterator[Finding]:
    """Places with a possible credential, without its value."""
    for name, path in files.items():
        try:
            text = read_plain(path).decode("utf-8", "replace")
        except OSError as problem:
            said = f"was not searched for credentials: {problem.strerror}"
            yield Finding(concern=Concern.LEAK, file=name, text=said)
            continue
        kind = scan(text)
        if kind is not None:
            lines = enumerate(text.split("\n"), start=1)
            number = next((number for number, line in lines if scan(line) is not None), None)
            said = f"contains what looks like a {kind}"
            yield Finding(concern=Concern.LEAK, file=name, line=number, text=said)
    for number, where in leaks.unmasked(record):
        said = f"{where} contains what looks like a credential and is not masked"
        yield Finding(concern=Concern.LEAK, file=FILE, line=number, text=said)
