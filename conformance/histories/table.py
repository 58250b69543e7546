"""The transitions of the specification's state table, as text."""

from __future__ import annotations

from typing import Final

TABLE: Final = (
    "registration, approved",
    "registration, held: Pending",
    "Pending, approved by the operator: approved",
    "Proxy client active, revoked: revoked",
    "absent, sign-in, accepted: cached",
    "absent, sign-in, rejected: absent",
    "cached, near expiry, refreshed",
    "cached, near expiry, refresh rejected: 410",
    "cached, near expiry, no refresh token: 410",
    "needs reauthentication, sign-in: cached",
)
