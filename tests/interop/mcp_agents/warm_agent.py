"""Loads what agent.py imports, which takes seconds; `main` is one run of agent.py, in a fork."""

from __future__ import annotations

import importlib
import runpy
import sys
from collections.abc import Sequence
from pathlib import Path

AGENT = str(Path(__file__).with_name("agent.py"))
for module in ("httpx2", "mcp.client.auth", "mcp.client.client", "mcp.client.streamable_http", "pydantic"):
    importlib.import_module(module)


def main(arguments: Sequence[str]) -> int:
    sys.argv = [AGENT, *arguments]
    runpy.run_path(AGENT, run_name="__main__")
    return 0
