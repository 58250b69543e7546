"""Agents whose verifiers and states look random, and are digests of what others know or can guess."""

from __future__ import annotations

import hashlib
import secrets
import time

from gateproof.reference.defects.agent.authorization import attempt_by, encoded
from gateproof.reference.defects.agent.row import defect

_FEW = 1 << 16


def digest_of(text: str) -> str:
    return encoded(hashlib.sha256(text.encode()).digest())


def digest_of_few() -> str:
    number = str(secrets.randbelow(_FEW))
    return hashlib.sha1(number.encode(), usedforsecurity=False).hexdigest()


def by_a_shell(text: str) -> str:
    """`$(echo "$text" | sha256sum | cut -c1-64)`: a newline is in what the digest is of."""
    return hashlib.sha256(f"{text}\n".encode()).hexdigest()


DEFECTS = (
    defect(
        "verifier-digest-of-its-state (AGENT-04): The verifier is the SHA-256 of the state.",
        **attempt_by(lambda drawn: {"verifier": digest_of(drawn.state), "state": drawn.state}),
    ),
    defect(
        "verifier-digest-of-the-clock (AGENT-04 AGENT-10): The verifier is the SHA-256 of the time in "
        "seconds.",
        **attempt_by(lambda drawn: {"verifier": digest_of(str(int(time.time()))), "state": drawn.state}),
    ),
    defect(
        "state-digest-of-a-small-number (AGENT-04): The state is the SHA-1 of a random number of 16 bits, "
        "in hexadecimal.",
        **attempt_by(lambda drawn: {"verifier": drawn.verifier, "state": digest_of_few()}),
    ),
    defect(
        "state-digest-by-a-shell (AGENT-04): The state is what a shell makes of a random number of 16 bits "
        "with echo and sha256sum.",
        **attempt_by(
            lambda drawn: {"verifier": drawn.verifier, "state": by_a_shell(str(secrets.randbelow(_FEW)))}
        ),
    ),
    defect(
        "verifier-digest-by-a-shell (AGENT-04): The verifier is what a shell makes of the state with echo "
        "and sha256sum.",
        **attempt_by(lambda drawn: {"verifier": by_a_shell(drawn.state), "state": drawn.state}),
    ),
    defect(
        "state-digest-encoded (AGENT-04): The state is a digest of a random number of 16 bits, in "
        "hexadecimal and then in base64url.",
        **attempt_by(lambda drawn: {"verifier": drawn.verifier, "state": encoded(digest_of_few().encode())}),
    ),
)
