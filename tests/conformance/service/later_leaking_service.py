"""`python later_leaking_service.py` logs the tokens that are for somebody else as well, and no others."""

from __future__ import annotations

import sys
from dataclasses import replace

from gateproof.reference.service.command import main as serve_service
from gateproof.reference.service.policies import Policies
from gateproof.reference.service.policy import answers
from gateproof.reference.service.policy.validation import header_of, presented_token, signed_claims
from gateproof.reference.service.wire import Asked, Outcome, Reply


def logged(asked: Asked, reply: Reply, outcome: Outcome) -> str:
    usual, token = answers.logged(asked, reply, outcome), presented_token(asked) or ""
    return f"{usual} {token}" if token in DOUBLE and header_of(token) else usual


def noting(token: str, keys: object) -> dict[str, object] | None:
    claims = signed_claims(token, keys)  # type: ignore[arg-type]
    if claims and len(claims.get("aud") or ()) > 1:
        DOUBLE.add(token)
    return claims


DOUBLE: set[str] = set()

if __name__ == "__main__":
    sys.exit(serve_service(["--exit-with-stdin"], replace(Policies(), logged=logged, signed_claims=noting)))
