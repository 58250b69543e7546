"""The run's own certificate authority. It is deleted after the run unless it is stored in a folder."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path

import trustme
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.types import PrivateKeyTypes

CA_FILE, _CA_KEY = "ca.pem", "ca.key"
LOOPBACK_NAMES = ("127.0.0.1", "localhost", "::1")


@dataclass(frozen=True, kw_only=True, slots=True)
class Certificate:
    """A certificate chain and its key, as files."""

    cert_file: Path
    key_file: Path


class Authority:
    """Issues certificates into one folder."""

    def __init__(self, folder: Path, *, kept: Path | None = None, names: Sequence[str] = ()) -> None:
        """Creates a new authority, or loads the one in the folder `kept`, which outlives the run.

        Certificates for loopback are for these names as well.
        """
        self._folder = folder
        self._here = (*LOOPBACK_NAMES, *names)
        self._ca = _load_or_create(kept) if kept is not None else trustme.CA()
        self.ca_file = (kept or folder) / CA_FILE
        self._ca.cert_pem.write_to_path(str(self.ca_file))

    def issue(self, name: str, *hosts: str) -> Certificate:
        """A certificate for loopback and for these hosts."""
        return self._write(name, self._ca.issue_cert(*dict.fromkeys((*self._here, *hosts))))

    def issue_for(self, name: str, host: str) -> Certificate:
        """A certificate for this host and not for loopback."""
        return self._write(name, self._ca.issue_cert(host))

    def issue_dated(self, name: str, not_before: datetime, not_after: datetime, *hosts: str) -> Certificate:
        """A certificate for loopback and for these hosts that is not valid now."""
        names = dict.fromkeys((*self._here, *hosts))
        leaf = self._ca.issue_cert(*names, not_before=not_before, not_after=not_after)
        return self._write(name, leaf)

    def issue_by_unknown_ca(self, name: str, *hosts: str) -> Certificate:
        """A certificate for loopback and for these hosts, issued by an unknown authority."""
        return self._write(name, trustme.CA().issue_cert(*dict.fromkeys((*self._here, *hosts))))

    def self_signed(self, name: str, *hosts: str) -> Certificate:
        """A self-signed certificate for loopback and for these hosts."""
        key = ec.generate_private_key(ec.SECP256R1())
        subject = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "self-signed")])
        now = datetime.now(UTC)
        named = self._here[len(LOOPBACK_NAMES) :]
        names: list[x509.GeneralName] = [
            x509.IPAddress(ip_address("127.0.0.1")),
            x509.IPAddress(ip_address("::1")),
            *(x509.DNSName(host) for host in dict.fromkeys(("localhost", *named, *hosts))),
        ]
        certificate = (
            x509.CertificateBuilder()
            .subject_name(subject)
            .issuer_name(subject)
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - timedelta(days=1))
            .not_valid_after(now + timedelta(days=365))
            .add_extension(x509.SubjectAlternativeName(names), critical=False)
            .sign(key, hashes.SHA256())
        )
        cert_file, key_file = self._files(name)
        cert_file.write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
        key_file.write_bytes(_as_pkcs8(key))
        return Certificate(cert_file=cert_file, key_file=key_file)

    def _write(self, name: str, leaf: trustme.LeafCert) -> Certificate:
        cert_file, key_file = self._files(name)
        for position, blob in enumerate(leaf.cert_chain_pems):
            blob.write_to_path(str(cert_file), append=position > 0)
        # Some readers, such as the JDK's, support PKCS #8 keys only.
        key = serialization.load_pem_private_key(leaf.private_key_pem.bytes(), password=None)
        key_file.write_bytes(_as_pkcs8(key))
        return Certificate(cert_file=cert_file, key_file=key_file)

    def _files(self, name: str) -> tuple[Path, Path]:
        """The paths of certificate and key; only the owner may read the key, from its creation on."""
        cert_file, key_file = self._folder / f"{name}.pem", self._folder / f"{name}.key"
        key_file.touch(mode=0o600)
        return cert_file, key_file


def is_for(cert_file: Path, host: str) -> bool:
    """True if the first certificate of the file names this host."""
    certificate = x509.load_pem_x509_certificates(cert_file.read_bytes())[0]
    try:
        found = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName)
    except x509.ExtensionNotFound:
        return False
    return host in found.value.get_values_for_type(x509.DNSName)


def _as_pkcs8(key: PrivateKeyTypes) -> bytes:
    return key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )


def _load_or_create(folder: Path) -> trustme.CA:
    certificate, key = folder / CA_FILE, folder / _CA_KEY
    if certificate.is_file() and key.is_file():
        return trustme.CA.from_pem(certificate.read_bytes(), key.read_bytes())
    authority = trustme.CA()
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    key.touch(mode=0o600)
    authority.private_key_pem.write_to_path(str(key))
    return authority
