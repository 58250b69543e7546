"""Free ports for servers that have to be told theirs before they start."""

from __future__ import annotations

import random
import socket

# Below the range from which systems draw the ports of outgoing connections: none of those can take one of
# these between the moment when it is found free and the moment when the server binds it.
_RANGE = range(20000, 32000)
_TRIES = 200


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
