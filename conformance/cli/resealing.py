"""Chooses the key for a new seal of a folder, and names the seals that it replaces."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from gateproof.reports import seal
from gateproof.reports.findings import Concern
from gateproof.reports.plain_files import read_plain
from gateproof.reports.signing import KeyProblem, SigningKey, signing_key
from gateproof.reports.variables import SIGN_KEY
from gateproof.reports.verify import verify


def asks_to_sign(arguments: argparse.Namespace) -> bool:
    """True if the options give a key for a new seal, or the signer of the one before."""
    by_variable = arguments.key is not None and bool(os.environ.get(SIGN_KEY))
    return arguments.sign_key is not None or by_variable


def key_for(folders: Sequence[Path], sign_key: Path | None, signer: Path | None) -> SigningKey:
    """The key for a new seal: the given one, or else a newly generated one.

    A given key signs only folders whose seal verifies with the public key `signer`: otherwise an altered
    record could get a trusted seal. Raises ValueError.
    """
    if sign_key is None and not os.environ.get(SIGN_KEY):
        return signing_key(None, {})
    if signer is None:
        if sign_key is None:
            said = f"{SIGN_KEY} is not used without --key: the new seal shows integrity, not identity"
            print(f"gateproof: {said}", file=sys.stderr)
            return signing_key(None, {})
        raise ValueError(
            "--sign-key signs again what verifies with --key SIGNER, the public key of the signer before"
        )
    try:
        pem = signer.read_bytes()
    except OSError as problem:
        raise KeyProblem(f"--key {signer}: {problem.strerror}") from None
    for folder in folders:
        if (found := verify(folder, pem).first) is not None:
            raise ValueError(
                f"{folder}: not verified with {signer}: {found.sentence}; it is not signed again"
            )
    return signing_key(sign_key, os.environ)


def refuse_altered(folder: Path, *, unsealed: bool = False) -> None:
    """Refuses a folder that contradicts its seal, and one without a seal unless that is allowed."""
    if not (folder / seal.VERDICTS).exists():
        if unsealed:
            return
        raise ValueError(f"{folder}: is not sealed, so nothing says whose record it is; it is not signed")
    altered = {Concern.SIGNATURE, Concern.RECORD, Concern.SEAL}
    found = next((each for each in verify(folder).findings if each.concern in altered), None)
    if found is not None:
        raise ValueError(f"{folder}: {found.sentence}; an altered folder is not signed")


def seals_before(folders: Sequence[Path]) -> tuple[str, ...]:
    """The digests of the seals that a new one replaces."""
    places = [folder / seal.VERDICTS for folder in folders]
    return tuple(seal.digest(read_plain(place)) for place in places if place.exists())
