"""Free ports for servers that have to be told theirs before they start."""

from __future__ import annotations

import random
import socket
from contextlib import ExitStack

# Below the range from which systems draw the ports of outgoing connections: none of those can take one of
# these between the moment when it is found free and the moment when the server binds it.
_RANGE = range(20000, 32000)
_TRIES = 200


# For ports that stay free for a while before somebody listens there: none of the others is drawn from here.
_KEPT_RANGE = range(14000, 20000)


def kept_port(stack: ExitStack) -> int:
    """A port on 127.0.0.1 that stays free as long as the stack, as far as gateproof is concerned.

    Who keeps it holds the UDP port of the same number, which is in nobody's way.
    """
    for port in random.SystemRandom().sample(_KEPT_RANGE, _TRIES):
        keeping = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        try:
            keeping.bind(("127.0.0.1", port))
            with socket.socket() as probe:
                probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                probe.bind(("127.0.0.1", port))
        except OSError:
            keeping.close()
            continue
        stack.enter_context(keeping)
        return port
    raise OSError(f"no free port among {_TRIES} tried")


def free_ports(count: int) -> list[int]:
    """Ports on 127.0.0.1 that nobody listens on now."""
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
