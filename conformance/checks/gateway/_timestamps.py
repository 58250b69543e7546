"""The format of timestamps in redemption answers."""

from __future__ import annotations

import re
from datetime import datetime

from gateproof.conformance.suite.claims import expect, require
from gateproof.conformance.wire.exchange import Exchange

# RFC 3339 section 5.6; its note allows a space in place of the T.
_RFC_3339 = re.compile(
    r"(\d{4}-\d{2}-\d{2})[Tt ](\d{2}:\d{2}):(\d{2})(\.\d+)?([Zz]|[+-]([01]\d|2[0-3]):[0-5]\d)"
)


def is_timestamp_or_absent(answer: Exchange) -> None:
    """`expires_at` of a redemption is absent or an RFC 3339 timestamp."""
    expires_at = require(answer).json_object().get("expires_at")
    expect.that(
        expires_at is None or _is_timestamp(expires_at),
        "expires_at",
        expected="an RFC 3339 timestamp",
        got=expires_at,
    )


def _is_timestamp(value: object) -> bool:
    found = _RFC_3339.fullmatch(value) if isinstance(value, str) else None
    if found is None or int(found[3]) > 60:
        return False
    try:
        datetime.strptime(f"{found[1]} {found[2]}", "%Y-%m-%d %H:%M")  # noqa: DTZ007 - only asks whether it exists
    except ValueError:
        return False
    return True
