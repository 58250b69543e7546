"""How the harness trusts certificates."""

from __future__ import annotations

import ssl
from pathlib import Path

from gateproof.conformance.kit.authority import Authority
from gateproof.conformance.wire.route import trusting


def test_certificates_need_no_extension_that_only_new_pythons_demand(tmp_path: Path) -> None:
    context = trusting(str(Authority(tmp_path).ca_file))

    assert not context.verify_flags & ssl.VERIFY_X509_STRICT
    assert context.verify_mode is ssl.CERT_REQUIRED
    assert context.check_hostname
