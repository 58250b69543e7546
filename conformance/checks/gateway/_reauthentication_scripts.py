"""Merchant scripts after which a user has to sign in again."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

REAUTHENTICATION_SCRIPTS: Mapping[str, dict[str, Any]] = {
    "no-refresh-token": {"issue_refresh_token": False},
    "refresh-rejected": {"refresh": "reject"},
}
