"""What the fork server does before it forks: all that a party would load at its first request."""

from __future__ import annotations

import subprocess
import sys

import pytest


@pytest.mark.parametrize(
    ("loaded", "clients"),
    [("gateproof.reference.gateway.command", 1), ("gateproof.reference.defects.__main__", 3)],
)
def test_every_loaded_client_gets_an_answer_and_no_thread_is_left(loaded: str, clients: int) -> None:
    program = (
        f"import threading, {loaded}\n"
        "from gateproof.reference.warm_up import warm_up\n"
        "print(warm_up(), threading.active_count())"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout.split() == [str(clients), "1"]


def test_signing_loads_nothing_more() -> None:
    program = (
        "import sys\n"
        "from gateproof.reference.warm_up import warm_up\n"
        "warm_up()\n"
        "before = set(sys.modules)\n"
        "import jwt\n"
        "from cryptography.hazmat.primitives.asymmetric import ec\n"
        "jwt.encode({}, ec.generate_private_key(ec.SECP256R1()), 'ES256')\n"
        "print(sorted(set(sys.modules) - before))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout.strip() == "[]"
