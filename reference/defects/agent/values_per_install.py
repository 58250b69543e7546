"""Agents whose values are random once for an install, and then only counted up."""

from __future__ import annotations

import base64
import secrets
import time
from dataclasses import replace

from gateproof.reference.agent.policy import authorization
from gateproof.reference.agent.policy.authorization import Attempt, Octets
from gateproof.reference.defects.agent.row import defect
from gateproof.reference.defects.agent.stored_state import state_file

ODD = 0x9E3779B97F4A7C15F39CC0605CEDC835


def kept(name: str, octets: int) -> str:
    """A random value that is generated once for an install and stored."""
    file = state_file(name)
    if not file.exists():
        file.write_text(secrets.token_hex(octets))
    return file.read_text()


def counted() -> int:
    """Counts the calls in the life of an install."""
    file = state_file("count")
    number = int(file.read_text()) + 1 if file.exists() else 1
    file.write_text(str(number))
    return number


def with_the_time(octets: Octets) -> Attempt:
    state = f"{kept('install', 32)}.{time.time_ns() // 1_000_000}"
    return replace(authorization.fresh_attempt(octets), state=state)


def with_the_count(octets: Octets) -> Attempt:
    return replace(authorization.fresh_attempt(octets), verifier=f"{kept('secret', 60)}{counted():06}")


def with_a_scrambled_count(octets: Octets) -> Attempt:
    number = (int(kept("start", 16), 16) + counted() * ODD) % (1 << 128)
    state = base64.urlsafe_b64encode(f"{number:032x}".encode()).decode().rstrip("=")
    return replace(authorization.fresh_attempt(octets), state=state)


DEFECTS = (
    defect(
        "state-of-the-install-and-the-clock (AGENT-04): The state is a constant of the install, followed by "
        "the time.",
        fresh_attempt=with_the_time,
    ),
    defect(
        "verifier-of-a-kept-secret-and-a-count (AGENT-04): The verifier is a secret that is constant in the "
        "install, followed by a counter.",
        fresh_attempt=with_the_count,
    ),
    defect(
        "state-of-a-scrambled-count (AGENT-04): The state is a counter times a large odd number plus a "
        "constant, in hexadecimal and then in base64url.",
        fresh_attempt=with_a_scrambled_count,
    ),
)
