"""What the page about the official MCP SDK says is what happens."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "mcp-sdk.md").read_text(encoding="utf-8")
LOCK = (ROOT / "requirements" / "mcp-sdk.txt").read_text(encoding="utf-8")
ROW = re.compile(r"^\| `([a-z-]+)` \| .* \| (.+) \|$", re.MULTILINE)
LIMIT_S = 110
# Where the body of an answer begins in a message.
NO_MORE = ' {"'
there_is_an_sdk = pytest.mark.needs("mcp-sdk")


def carried_out() -> dict[str, dict[str, Any]]:
    command = [sys.executable, ROOT / "tests" / "interop" / "mcp_sdk" / "trial.py", "--json"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT_S, check=False)
    assert done.returncode == 0, done.stderr
    return {outcome["trial"]: outcome for outcome in json.loads(done.stdout)}


def ended(outcome: dict[str, Any]) -> str:
    """How a trial ended, as the page puts it: what a server says of an error in its own words is left out."""
    stopped = outcome["stopped"]
    if stopped:
        return f"`{stopped.partition(NO_MORE)[0]}`"
    refreshed = outcome["orders_after_refresh"]
    return f"{len(outcome['orders'])} orders" + (
        f", and after a refresh {len(refreshed)}" if refreshed else ""
    )


def request_to(outcome: dict[str, Any], address: str) -> str:
    (found,) = [each for each in outcome["requests"] if address in each]
    return found


def test_the_page_speaks_of_the_version_in_the_lock() -> None:
    (version,) = re.findall(r"^mcp==([0-9.]+)", LOCK, re.MULTILINE)
    assert f"Tried with mcp {version}," in PAGE


@there_is_an_sdk
def test_every_trial_ends_as_the_page_says() -> None:
    outcomes = carried_out()

    assert {name: ended(outcome) for name, outcome in outcomes.items()} == dict(ROW.findall(PAGE))
    unchanged, pinned, conforming = (outcomes[name] for name in ("unchanged", "pinned", "pinned-conforming"))
    assert not any("/api/register" in request for request in unchanged["requests"])
    assert pinned["orders_after_refresh"] == pinned["orders"] == conforming["orders"]
    assert f"protocol {pinned['protocol']} |" in PAGE
    by_default = request_to(pinned, "/api/register")
    assert "scope" in by_default
    assert "token_endpoint_auth_method" not in by_default
    by_the_letter = request_to(conforming, "/api/register")
    assert "scope" not in by_the_letter
    assert "token_endpoint_auth_method" in by_the_letter
    assert "scope=openid+orders%3Aread" in request_to(pinned, "/oauth2/auth")
    assert "scope=openid%20orders%3Aread" in request_to(conforming, "/oauth2/auth")
    assert "resource={service_url}/mcp" in request_to(conforming, "/oauth2/auth")
    assert "grant_type=refresh_token" in pinned["requests"][-2]
