"""A target whose certificate is refused is asked about that, and about nothing else."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from warm import WARM

from gateproof.conformance.wire.ports import free_ports

DEFECT = ("gateproof.reference.defects", "gateway", "core-certificate-of-another-host")


def test_refused_certificate_fails_its_rule_and_leaves_the_others_untested(
    judged: Callable[..., dict[str, Any]], launched_target: Callable[..., Path]
) -> None:
    report = judged(launched_target(*DEFECT), "DISC-01", "TLS-01", "CODE-01")

    verdicts = {rule["id"]: rule["verdict"] for rule in report["rules"]}
    assert verdicts == {"DISC-01": "not-testable", "TLS-01": "failed", "CODE-01": "not-testable"}
    assert report["exit_code"] == 3
    assert "the certificate was refused" in report["reason"]
    failed = [check for rule in report["rules"] for check in rule["checks"] if check["verdict"] == "failed"]
    assert [check["id"] for check in failed] == ["TLS-01/certificate_is_valid_for_its_host[core]"]


def test_so_is_a_service(judged: Callable[..., dict[str, Any]], tmp_path: Path) -> None:
    command = [*WARM, "gateproof.reference.defects", "service", "certificate-of-another-host"]
    file = tmp_path / "target.toml"
    lines = [
        f'[target]\nrole = "service"\nname = "orders"\nservice_url = "https://127.0.0.1:{free_ports(1)[0]}"',
        f'[launch]\ncommand = {json.dumps(command)}\n[operation]\nkind = "http"\npath = "/orders"',
    ]
    file.write_text("\n".join(lines))

    report = judged(file, "META-01", "TLS-01", "BACK-04")

    verdicts = {rule["id"]: rule["verdict"] for rule in report["rules"]}
    assert verdicts == {"META-01": "not-testable", "TLS-01": "failed", "BACK-04": "not-testable"}
    assert report["exit_code"] == 3
    assert "the certificate was refused" in report["reason"]
    assert "a launched service is given one at GATEPROOF_TLS_CERT_FILE" in report["reason"]
    failed = [check for rule in report["rules"] for check in rule["checks"] if check["verdict"] == "failed"]
    assert [check["id"] for check in failed] == ["TLS-01/certificate_is_valid_for_its_host"]
