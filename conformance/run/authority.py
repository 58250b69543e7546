"""The run's own certificate authority: made for one run, trusted by nobody else, gone afterwards."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import trustme

LOOPBACK_NAMES = ("127.0.0.1", "localhost", "::1")


@dataclass(frozen=True, kw_only=True, slots=True)
class Certificate:
    """A certificate chain and its key, as files."""

    cert_file: Path
    key_file: Path


class Authority:
    """Issues certificates into one folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._ca = trustme.CA()
        self.ca_file = folder / "ca.pem"
        self._ca.cert_pem.write_to_path(str(self.ca_file))

    def issue(self, name: str, *hosts: str) -> Certificate:
        """A certificate for loopback and for these hosts."""
        leaf = self._ca.issue_cert(*dict.fromkeys((*LOOPBACK_NAMES, *hosts)))
        cert_file, key_file = self._folder / f"{name}.pem", self._folder / f"{name}.key"
        for position, blob in enumerate(leaf.cert_chain_pems):
            blob.write_to_path(str(cert_file), append=position > 0)
        key_file.touch(mode=0o600)
        leaf.private_key_pem.write_to_path(str(key_file))
        return Certificate(cert_file=cert_file, key_file=key_file)
