"""`python -m gateproof.reference.defects ROLE NAME …` runs a party with one defect."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from typing import Any

from gateproof.reference.agent.command import main as run_agent
from gateproof.reference.defects.agent import DEFECTS as OF_AGENTS
from gateproof.reference.defects.defect import Defect
from gateproof.reference.defects.gateway import DEFECTS as OF_GATEWAYS
from gateproof.reference.defects.service import DEFECTS as OF_SERVICES
from gateproof.reference.gateway.command import main as serve_gateway
from gateproof.reference.service.command import main as serve_service

ROLES: Mapping[str, Mapping[str, Defect[Any]]] = {
    "gateway": OF_GATEWAYS,
    "service": OF_SERVICES,
    "agent": OF_AGENTS,
}
USAGE = "usage: python -m gateproof.reference.defects gateway|service|agent (--list | NAME [its arguments])"


def main(argv: Sequence[str]) -> int:
    if len(argv) < 2 or argv[0] not in ROLES:
        print(USAGE, file=sys.stderr)
        return 2
    role, name, rest = argv[0], argv[1], argv[2:]
    known = ROLES[role]
    if name == "--list":
        listed = [
            {"name": each.name, "what": each.what, "rules": each.rules, "operation": each.operation}
            for each in known.values()
        ]
        print(json.dumps(listed, indent=2))
        return 0
    if name not in known:
        near = get_close_matches(name, known, n=1)
        hint = f"; did you mean {near[0]}?" if near else ""
        print(f"reference defects: there is no defect {name}{hint}", file=sys.stderr)
        return 2
    if role == "agent":
        return run_agent(rest, OF_AGENTS[name].policies)
    if role == "service":
        return serve_service(rest, OF_SERVICES[name].policies)
    return serve_gateway(rest, OF_GATEWAYS[name].policies)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
