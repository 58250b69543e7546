"""What others are to read is written as anybody can read it."""

from __future__ import annotations

import ssl
from datetime import UTC, datetime, timedelta
from pathlib import Path

from gateproof.conformance.kit.authority import Authority


def test_every_key_is_in_pkcs8_and_belongs_to_its_certificate(tmp_path: Path) -> None:
    authority, now = Authority(tmp_path), datetime.now(UTC)
    issued = [
        authority.issue("good", "service.example"),
        authority.issue_for("elsewhere", "service.example"),
        authority.issue_dated("expired", now - timedelta(days=2), now - timedelta(days=1)),
        authority.issue_by_unknown_ca("stranger"),
        authority.self_signed("self-signed"),
    ]
    for each in issued:
        assert each.key_file.read_text().startswith("-----BEGIN PRIVATE KEY-----\n")
        assert each.key_file.stat().st_mode & 0o077 == 0
        ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(each.cert_file, each.key_file)
