"""`python -m reference.defects gateway NAME …` serves a gateway that is wrong in one way."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from difflib import get_close_matches

from reference.defects.gateway import DEFECTS
from reference.gateway.command import main as serve_gateway

USAGE = "usage: python -m reference.defects gateway (--list | NAME [arguments of reference.gateway])"


def main(argv: Sequence[str]) -> int:
    if len(argv) < 2 or argv[0] != "gateway":
        print(USAGE, file=sys.stderr)
        return 2
    name, rest = argv[1], argv[2:]
    if name == "--list":
        listed = [{"name": each.name, "what": each.what, "rules": each.rules} for each in DEFECTS.values()]
        print(json.dumps(listed, indent=2))
        return 0
    if name not in DEFECTS:
        near = get_close_matches(name, DEFECTS, n=1)
        hint = f"; did you mean {near[0]}?" if near else ""
        print(f"reference defects: there is no defect {name}{hint}", file=sys.stderr)
        return 2
    return serve_gateway(rest, DEFECTS[name].policies)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
