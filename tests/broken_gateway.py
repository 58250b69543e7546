"""`python broken_gateway.py DEFECT+DEFECT …` serves a gateway that is wrong in several ways at once.

Beside the defects, its control breaks where a Proxy client is to be revoked, and knows no rotation of keys:
a run against it ends in every verdict that a run can end in.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from dataclasses import fields, replace
from typing import Any

from gateproof.reference.defects.gateway import DEFECTS
from gateproof.reference.gateway import actions
from gateproof.reference.gateway.arguments import Arguments
from gateproof.reference.gateway.command import main as serve_gateway
from gateproof.reference.gateway.gateway import Gateway
from gateproof.reference.gateway.policies import Policies
from gateproof.reference.outcomes import JsonObject


def joined(names: Iterable[str]) -> Policies:
    """The wrong decisions of all these defects; two of them must not be about the same thing."""
    honest, wrong = Policies(), dict[str, Any]()
    for name in names:
        policies = DEFECTS[name].policies
        found = {each.name: getattr(policies, each.name) for each in fields(Policies)}
        changed = {key: value for key, value in found.items() if value is not getattr(honest, key)}
        if twice := wrong.keys() & changed.keys():
            raise ValueError(f"{name} decides {', '.join(sorted(twice))}, and so does another")
        wrong |= changed
    return replace(honest, **wrong)


def revoke_proxy_client(_gateway: Gateway, _arguments: Arguments) -> JsonObject:
    raise RuntimeError("the Console is broken")


def main(argv: Sequence[str]) -> int:
    actions.ACTIONS["revoke_proxy_client"] = revoke_proxy_client
    del actions.ACTIONS["rotate_keys"]
    return serve_gateway(argv[1:], joined(argv[0].split("+")))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
