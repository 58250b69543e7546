"""Makes the service's defects from rows."""

from __future__ import annotations

from gateproof.reference.defects.defect import Rows
from gateproof.reference.service.policies import Policies

defect = Rows(Policies())
# A defect that only an MCP server can have.
mcp_defect = Rows(Policies(), operation="mcp")
