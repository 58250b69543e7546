"""Screenshots of pages on which a sign-in got stuck: one file for each check that has one."""

from __future__ import annotations

import base64
import re
import zlib
from typing import Final

from gateproof.reports.verdicts import RunResult

FOLDER: Final = "pictures"
_NOT_IN_A_NAME = re.compile(r"[^A-Za-z0-9_.-]+")


def path_of(check_id: str) -> str:
    """The path of a check's screenshot below the folder of the report, unique for each check."""
    name = _NOT_IN_A_NAME.sub("-", check_id).strip("-.")
    mark = "" if name == check_id.replace("/", "-", 1) else f"-{zlib.crc32(check_id.encode()):08x}"
    return f"{FOLDER}/{name}{mark}.png"


def render(result: RunResult) -> dict[str, bytes]:
    """The screenshots of the record; invalid ones are left out."""
    found: dict[str, bytes] = {}
    for check in (check for rule in result.rules for check in rule.checks if check.picture):
        try:
            found[path_of(check.id)] = base64.b64decode(check.picture, validate=True)
        except ValueError:
            continue
    return found
