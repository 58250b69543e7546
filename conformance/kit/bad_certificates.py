"""Invalid certificates, by what is wrong with them."""

from __future__ import annotations

from datetime import UTC, datetime

from gateproof.conformance.kit.authority import Authority, Certificate

# Far in the past and in the future: checks move the target's clock by a year and more.
EXPIRED = (datetime(2001, 1, 1, tzinfo=UTC), datetime(2002, 1, 1, tzinfo=UTC))
NOT_YET = (datetime(2090, 1, 1, tzinfo=UTC), datetime(2091, 1, 1, tzinfo=UTC))
# For these, the defect is the only difference only if the same authority issues them as the good one.
NEEDS_OWN_CA = frozenset({"expired", "not-yet-valid", "wrong-host"})


def bad_certificates(authority: Authority, *hosts: str) -> dict[str, Certificate]:
    """All of them, for a server at loopback and at these hosts."""
    return {
        "expired": authority.issue_dated("face-expired", *EXPIRED, *hosts),
        "not-yet-valid": authority.issue_dated("face-not-yet", *NOT_YET, *hosts),
        "wrong-host": authority.issue_for("face-elsewhere", "elsewhere.invalid"),
        "self-signed": authority.self_signed("face-self-signed", *hosts),
        "unknown-ca": authority.issue_by_unknown_ca("face-stranger", *hosts),
    }
