"""`python pinned_service.py ALGORITHM …` serves the reference as a service that takes one algorithm alone."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from gateproof.reference.service.command import main as serve_service
from gateproof.reference.service.policies import Policies
from gateproof.reference.service.policy.validation import signed_claims


def main(argv: Sequence[str]) -> int:
    algorithm, *rest = argv
    alone = partial(signed_claims, algorithms=frozenset({algorithm}))
    return serve_service(rest, replace(Policies(), signed_claims=alone))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
