"""Agents whose verifiers and states look random, but can be computed from known or guessable data."""

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
    """Computes `$(echo "$text" | sha256sum | cut -c1-64)`, so the hashed text ends with a newline."""
    return hashlib.sha256(f"{text}\n".encode()).hexdigest()


def seeded_by(seed: Callable[[], int]) -> dict[str, Any]:
    """Generates verifier and state with a generator that has this guessable seed."""
    drawn: list[random.Random] = []

    def octets(number: int) -> bytes:
        if not drawn:
            drawn.append(random.Random(seed()))  # noqa: S311 - that is the defect
        return drawn[0].randbytes(number)

    return {"octets": octets}


class Linear:
    """The generator of java.util.Random."""

    def __init__(self, seed: int) -> None:
        self._state = (seed ^ 0x5DEECE66D) % (1 << 48)

    def octets(self, number: int) -> bytes:
        drawn = b""
        while len(drawn) < number:
            self._state = (self._state * 0x5DEECE66D + 0xB) % (1 << 48)
            drawn += (self._state >> 16).to_bytes(4, "little")
        return drawn[:number]


def linear() -> Callable[[int], bytes]:
    """Draws from that generator, with an unpredictable seed in each process."""
    drawn: list[Linear] = []

    def octets(number: int) -> bytes:
        if not drawn:
            drawn.append(Linear(secrets.randbits(48)))
        return drawn[0].octets(number)

    return octets


def lettered_by(seed: Callable[[], int]) -> dict[str, Any]:
    """Generates verifier and state as letters, with a generator that has this guessable seed."""
    drawn: list[random.Random] = []

    def fresh(_octets: Octets) -> Attempt:
        if not drawn:
            drawn.append(random.Random(seed()))  # noqa: S311 - that is the defect
        text = "".join(drawn[0].choices(string.ascii_letters + string.digits, k=96))
        return Attempt(verifier=text[:64], state=text[64:])

    return {"fresh_attempt": fresh}


def of_the_second(what: str) -> str:
    """A hash that is in no table, but that all installs compute within the same second."""
    return digest_of(f"{what} of the reference agent at {int(time.time())}")


def in_milliseconds() -> int:
    return time.time_ns() // 1_000_000


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
        "verifier-digest-of-the-millisecond (AGENT-04): The verifier is the SHA-256 of the time in "
        "milliseconds.",
        **attempt_by(lambda drawn: {"verifier": digest_of(str(in_milliseconds())), "state": drawn.state}),
    ),
    defect(
        "values-seeded-by-the-millisecond (AGENT-04): A generator that is seeded with the time in "
        "milliseconds gives verifier and state.",
        **seeded_by(in_milliseconds),
    ),
    defect(
        "state-digest-of-a-small-number (AGENT-04): The state is the SHA-1 of a random 16-bit number, in "
        "hexadecimal.",
        **attempt_by(lambda drawn: {"verifier": drawn.verifier, "state": digest_of_few()}),
    ),
    defect(
        "state-digest-by-a-shell (AGENT-04): The state is the SHA-256 of a random 16-bit number and a "
        "newline, as `echo | sha256sum` gives it.",
        **attempt_by(
            lambda drawn: {"verifier": drawn.verifier, "state": by_a_shell(str(secrets.randbelow(_FEW)))}
        ),
    ),
    defect(
        "verifier-digest-by-a-shell (AGENT-04): The verifier is the SHA-256 of the state and a newline, as "
        "`echo | sha256sum` gives it.",
        **attempt_by(lambda drawn: {"verifier": by_a_shell(drawn.state), "state": drawn.state}),
    ),
    defect(
        "state-digest-encoded (AGENT-04): The state is the SHA-1 of a random 16-bit number, in hexadecimal "
        "and then in base64url.",
        **attempt_by(lambda drawn: {"verifier": drawn.verifier, "state": encoded(digest_of_few().encode())}),
    ),
    defect(
        "octets-seeded-by-the-process (AGENT-04): The agent generates verifier and state with a generator "
        "whose seed is the process ID.",
        **seeded_by(os.getpid),
    ),
    defect(
        "octets-of-a-linear-generator (AGENT-04): The agent generates verifier and state with the generator "
        "of java.util.Random, whose 48 bits of state follow from three of its words.",
        octets=linear(),
    ),
    defect(
        "octets-seeded-by-the-second (AGENT-04 AGENT-10): The agent generates verifier and state with a "
        "generator whose seed is the time in seconds.",
        **seeded_by(lambda: int(time.time())),
    ),
    defect(
        "letters-seeded-by-the-process (AGENT-04): The agent generates verifier and state as letters, with "
        "a generator whose seed is the process ID.",
        **lettered_by(os.getpid),
    ),
    defect(
        "state-digest-of-the-second (AGENT-04): The state is a hash of the time in seconds and a text that "
        "is the same in all installs.",
        **attempt_by(lambda drawn: {"verifier": drawn.verifier, "state": of_the_second("state")}),
    ),
)
