"""Agents whose verifiers and states look random, and are digests of what others know or can guess."""

from __future__ import annotations

import hashlib
import secrets
import time

from reference.defects.agent_authorization import attempt_by, encoded
from reference.defects.agent_defect import AgentDefect, defect

_FEW = 1 << 16


def digest_of(text: str) -> str:
    return encoded(hashlib.sha256(text.encode()).digest())


def digest_of_few() -> str:
    number = str(secrets.randbelow(_FEW))
    return hashlib.sha1(number.encode(), usedforsecurity=False).hexdigest()


DIGESTS: tuple[AgentDefect, ...] = (
    defect(
        "verifier-digest-of-its-state",
        "The verifier is the SHA-256 of the state.",
        "AGENT-04",
        **attempt_by(lambda drawn: {"verifier": digest_of(drawn.state), "state": drawn.state}),
    ),
    defect(
        "verifier-digest-of-the-clock",
        "The verifier is the SHA-256 of the time in seconds.",
        "AGENT-04 AGENT-10",
        **attempt_by(lambda drawn: {"verifier": digest_of(str(int(time.time()))), "state": drawn.state}),
    ),
    defect(
        "state-digest-of-a-small-number",
        "The state is the SHA-1 of a random number of 16 bits, in hexadecimal.",
        "AGENT-04",
        **attempt_by(lambda drawn: {"verifier": drawn.verifier, "state": digest_of_few()}),
    ),
)
