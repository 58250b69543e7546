"""Agents whose verifiers and states look random, and are digests of what others know or can guess."""

from __future__ import annotations

import hashlib
import os
import random
import secrets
import string
import time
from collections.abc import Callable
from typing import Any

from gateproof.reference.agent.policy.authorization import Attempt, Octets
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


def seeded_by(seed: Callable[[], int]) -> dict[str, Any]:
    """Everything is drawn from a generator with this seed, which nobody needs to know to guess it."""
    drawn: list[random.Random] = []

    def octets(number: int) -> bytes:
        if not drawn:
            drawn.append(random.Random(seed()))  # noqa: S311 - that is the defect
        return drawn[0].randbytes(number)

    return {"octets": octets}


def lettered_by(seed: Callable[[], int]) -> dict[str, Any]:
    """The same with letters, as they are often drawn."""
    drawn: list[random.Random] = []

    def fresh(_octets: Octets) -> Attempt:
        if not drawn:
            drawn.append(random.Random(seed()))  # noqa: S311 - that is the defect
        text = "".join(drawn[0].choices(string.ascii_letters + string.digits, k=96))
        return Attempt(verifier=text[:64], state=text[64:])

    return {"fresh_attempt": fresh}


def of_the_second(what: str) -> str:
    """What no table of digests has, and every install of the agent makes in the same second."""
    return digest_of(f"{what} of the reference agent at {int(time.time())}")


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
    defect(
        "octets-seeded-by-the-process (AGENT-04): Verifier and state are drawn from a generator whose seed "
        "is the number of the process.",
        **seeded_by(os.getpid),
    ),
    defect(
        "octets-seeded-by-the-second (AGENT-04 AGENT-10): They are drawn from a generator whose seed is the "
        "time in seconds.",
        **seeded_by(lambda: int(time.time())),
    ),
    defect(
        "letters-seeded-by-the-process (AGENT-04): They are letters from a generator whose seed is the "
        "number of the process.",
        **lettered_by(os.getpid),
    ),
    defect(
        "state-digest-of-the-second (AGENT-04): The state is a digest of the time in seconds and a text that "
        "all installs have.",
        **attempt_by(lambda drawn: {"verifier": drawn.verifier, "state": of_the_second("state")}),
    ),
)
