"""Free ports for servers that need to know their port before they start."""

from __future__ import annotations

import random
import socket
from contextlib import ExitStack

# Below the range that systems use for outgoing connections: those cannot take a port between the moment when
# it is found free and the moment when the server binds it.
_RANGE = range(20000, 32000)
_TRIES = 200


# For ports that have to stay free for a while before a server listens; free_ports() does not use this range.
_KEPT_RANGE = range(14000, 20000)


def kept_port(stack: ExitStack) -> int:
    """A port on 127.0.0.1 that no other gateproof process takes until the stack closes.

    The reservation is a bound UDP socket with the same number: it does not disturb the TCP server.
    """
    for port in random.SystemRandom().sample(_KEPT_RANGE, _TRIES):
        reservation = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        try:
            reservation.bind(("127.0.0.1", port))
            with socket.socket() as probe:
                probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                probe.bind(("127.0.0.1", port))
        except OSError:
            reservation.close()
            continue
        stack.enter_context(reservation)
        return port
    raise OSError(f"no free port among {_TRIES} tried")


def free_ports(count: int) -> list[int]:
    """Ports on 127.0.0.1 on which no server listens now."""
    found: list[int] = []
    for port in random.SystemRandom().sample(_RANGE, _TRIES):
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
        found.append(port)
        if len(found) == count:
            return found
    raise OSError(f"no {count} free ports among {_TRIES} tried")
