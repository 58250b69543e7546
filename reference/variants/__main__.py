"""`python -m reference.variants gateway NAME[+NAME…] …` serves a gateway that made other legal choices."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence

from reference.gateway.command import main as serve_gateway
from reference.variants.gateway import VARIANTS
from reference.variants.variant import together

USAGE = "usage: python -m reference.variants gateway (--list | NAME[+NAME…] [arguments of reference.gateway])"


def main(argv: Sequence[str]) -> int:
    if len(argv) < 2 or argv[0] != "gateway":
        print(USAGE, file=sys.stderr)
        return 2
    names, rest = argv[1], argv[2:]
    if names == "--list":
        listed = [
            {"name": each.name, "what": each.what, "rules": each.rules, "decides": sorted(each.choices)}
            for each in VARIANTS.values()
        ]
        print(json.dumps(listed, indent=2))
        return 0
    unknown = [name for name in names.split("+") if name not in VARIANTS]
    if unknown:
        print(f"reference variants: there is no variant {', '.join(unknown)}", file=sys.stderr)
        return 2
    return serve_gateway(rest, together(VARIANTS[name] for name in names.split("+")))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
