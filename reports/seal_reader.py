"""Reads a seal and verifies its signatures."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from gateproof.reports import seal
from gateproof.reports.findings import Concern, Finding
from gateproof.reports.plain_files import read_beginning
from gateproof.reports.signing import BadEnvelope, KeyProblem, opened, public_key, public_pem

# Longer than any seal.
_MOST = 64 * 1024 * 1024


@dataclass(frozen=True, kw_only=True, slots=True)
class Sealed:
    """A seal: the payloads with a valid signature, and the findings."""

    key: Ed25519PublicKey | None
    payloads: Mapping[str, bytes]
    findings: tuple[Finding, ...]
    missing: bool


def open_seal(files: Mapping[str, Path], given: Ed25519PublicKey | None) -> Sealed:
    """The payloads of the envelopes, verified with the caller's key, or else the key in the folder."""
    findings = [
        Finding(concern=Concern.SIGNATURE, file=name, text="is missing: the folder is not sealed")
        for name in seal.FILES
        if name not in files
    ]
    if seal.PUBLIC_KEY in files:
        pem = read_beginning(files[seal.PUBLIC_KEY], _MOST)
        try:
            own = public_key(pem, seal.PUBLIC_KEY)
            if pem != public_pem(given or own):
                text = "is not the key that was given" if given is not None else "was changed"
                findings.append(Finding(concern=Concern.SIGNATURE, file=seal.PUBLIC_KEY, text=text))
        except KeyProblem as problem:
            own = None
            text = str(problem).removeprefix(f"{seal.PUBLIC_KEY}: ")
            findings.append(Finding(concern=Concern.SIGNATURE, file=seal.PUBLIC_KEY, text=text))
        key = given or own
    else:
        key = given
    payloads = {}
    for name in (seal.TEST_RESULT, seal.VERDICTS):
        if key is None or name not in files:
            continue
        try:
            payloads[name] = opened(read_beginning(files[name], _MOST), key)
        except BadEnvelope as problem:
            findings.append(Finding(concern=Concern.SIGNATURE, file=name, text=str(problem)))
    missing = not any(name in files for name in seal.FILES)
    return Sealed(key=key, payloads=payloads, findings=tuple(findings), missing=missing)
