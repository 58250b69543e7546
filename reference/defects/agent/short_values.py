"""Agents whose verifiers and states are random, but a few bits too short or in a wrong alphabet."""

from __future__ import annotations

import base64
import secrets
import string
import uuid
from dataclasses import replace
from typing import Any

from gateproof.reference.agent.policy import authorization
from gateproof.reference.agent.policy.authorization import VERIFIER_OCTETS, Attempt, Octets
from gateproof.reference.defects.agent.row import defect

_LETTERS = f"{string.ascii_letters}{string.digits}-_"


def with_state(make: Any) -> dict[str, Any]:
    return {"fresh_attempt": lambda octets: replace(authorization.fresh_attempt(octets), state=make())}


def with_verifier(make: Any) -> dict[str, Any]:
    return {"fresh_attempt": lambda octets: replace(authorization.fresh_attempt(octets), verifier=make())}


def in_plain_base64(octets: Octets) -> Attempt:
    """Standard base64, whose characters + and / are not allowed in a verifier."""
    verifier = base64.b64encode(octets(VERIFIER_OCTETS)).rstrip(b"=").decode()
    return replace(authorization.fresh_attempt(octets), verifier=verifier)


DEFECTS = (
    defect(
        "state-of-a-uuid (AGENT-04): The state is a UUID, in which six bits are constant.",
        **with_state(lambda: str(uuid.uuid4())),
    ),
    defect(
        "state-of-twenty-one-letters (AGENT-04): The state is two bits shorter than 16 octets.",
        **with_state(lambda: "".join(secrets.choice(_LETTERS) for _ in range(21))),
    ),
    defect(
        "verifier-of-two-uuids (AGENT-04): The verifier is two UUIDs, whose random part is twelve bits "
        "shorter than 32 octets.",
        **with_verifier(lambda: uuid.uuid4().hex + uuid.uuid4().hex),
    ),
    defect(
        "verifier-in-plain-base64 (AGENT-04): The verifier is in standard base64, with + and /.",
        fresh_attempt=in_plain_base64,
    ),
)
