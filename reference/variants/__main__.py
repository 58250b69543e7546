"""`python -m gateproof.reference.variants ROLE NAME[+NAME…] …` runs a party with other legal choices."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import replace

from gateproof.reference.agent.command import main as run_agent
from gateproof.reference.agent.policies import Policies as AgentPolicies
from gateproof.reference.gateway.command import main as serve_gateway
from gateproof.reference.gateway.policies import Policies as GatewayPolicies
from gateproof.reference.service.command import main as serve_service
from gateproof.reference.service.policies import Policies as ServicePolicies
from gateproof.reference.variants.agent import VARIANTS as OF_AGENTS
from gateproof.reference.variants.gateway import VARIANTS as OF_GATEWAYS
from gateproof.reference.variants.service import VARIANTS as OF_SERVICES
from gateproof.reference.variants.variant import choices_of

ROLES = {"gateway": OF_GATEWAYS, "service": OF_SERVICES, "agent": OF_AGENTS}
USAGE = (
    "usage: python -m gateproof.reference.variants gateway|service|agent "
    "(--list | NAME[+NAME…] [its arguments])"
)


def main(argv: Sequence[str]) -> int:
    if len(argv) < 2 or argv[0] not in ROLES:
        print(USAGE, file=sys.stderr)
        return 2
    role, names, rest = argv[0], argv[1], argv[2:]
    known = ROLES[role]
    if names == "--list":
        listed = [
            {
                "name": each.name,
                "what": each.what,
                "rules": each.rules,
                "decides": sorted(each.choices),
                "operation": each.operation,
            }
            for each in known.values()
        ]
        print(json.dumps(listed, indent=2))
        return 0
    unknown = [name for name in names.split("+") if name not in known]
    if unknown:
        print(f"reference variants: there is no variant {', '.join(unknown)}", file=sys.stderr)
        return 2
    chosen = [known[name] for name in names.split("+")]
    if role == "agent":
        return run_agent(rest, replace(AgentPolicies(), **choices_of(chosen)))
    if role == "service":
        return serve_service(rest, replace(ServicePolicies(), **choices_of(chosen)))
    return serve_gateway(rest, replace(GatewayPolicies(), **choices_of(chosen)))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
