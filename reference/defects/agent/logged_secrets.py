"""Agents that print nothing, and write what lasts into a log."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from gateproof.reference.defects.agent.row import defect
from gateproof.reference.defects.agent.secrets import Facts, in_base64


def logged(name: str, step: str, line: Callable[[Facts], str]) -> dict[str, Any]:
    """One step is a line of a log among the temporary files."""

    def told(where: str, facts: Facts) -> None:
        if where == step:
            file = Path(os.environ["TMPDIR"]) / name
            file.parent.mkdir(exist_ok=True)
            with file.open("a", encoding="utf-8") as log:
                log.write(f"{line(facts)}\n")

    return {"told": told}


def registration(facts: Facts) -> str:
    client = facts["client"]
    return f"DEBUG registered {client.client_id} with {client.client_secret}"


def refresh_token(facts: Facts) -> str:
    """Of the token answer, what is no JWT."""
    return f"DEBUG refresh with {in_base64(facts['tokens'].get('refresh_token', ''))}"


DEFECTS = (
    defect(
        "client-secret-in-a-log (AGENT-14): A log has the client secret of the registration.",
        **logged("agent.log", "registration", registration),
    ),
    defect(
        "refresh-token-in-a-log (AGENT-14): A log has the refresh token in base64.",
        **logged("logs/today.txt", "exchange", refresh_token),
    ),
)
