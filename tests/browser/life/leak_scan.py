"""The harness's own leak scan over what a browser received: `[canaries, texts]` in, what was found out.

A canary is its kind and its value, a text its name and its octets in base64.
"""

from __future__ import annotations

import base64
import json
import sys

from gateproof.conformance.wire.leaks import CanarySet, canary
from gateproof.reports.decoders import text_of


def main() -> int:
    canaries, texts = json.load(sys.stdin)
    canary_set = CanarySet(canary(kind, value) for kind, value in canaries)
    found = [
        [name, each.kind, each.how]
        for name, octets in texts
        for each in canary_set.search(text_of(base64.b64decode(octets)))
    ]
    json.dump(found, sys.stdout)
    return 0


if __name__ == "__main__":
    sys.exit(main())
