"""A target whose certificate is refused is asked about that, and about nothing else."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

DEFECT = ("-m", "reference.defects", "gateway", "core-certificate-of-another-host")


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
