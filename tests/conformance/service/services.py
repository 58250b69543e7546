"""Target files for small services that are launched."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from conformance.run.ports import free_ports

HTTP = 'kind = "http"\npath = "/orders"'
MCP = 'kind = "mcp"\npath = "/mcp"\ntool = "list_orders"'
_TARGET = """
[target]
role = "service"
name = "small"
service_url = "https://127.0.0.1:{port}"
[launch]
command = {command}
[operation]
{operation}
"""


def written(folder: Path, command: Sequence[str], operation: str) -> Path:
    """A target file for this command and this operation."""
    file = folder / "small.toml"
    port = free_ports(1)[0]
    file.write_text(_TARGET.format(port=port, command=json.dumps(list(command)), operation=operation))
    return file
