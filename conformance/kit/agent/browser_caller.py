"""Hands an address and its environment to the harness, and ends when the user's browser is done with it.

Agents in any language start it like a browser, so it runs as a file, without site-packages. The port and
token of the harness are in a file, not in the arguments, which other users of the machine could see.
"""

import json
import os
import socket
import sys

_PATIENCE_S = 60.0


def main() -> int:
    place, *addresses = sys.argv[1:]
    try:
        with open(place, encoding="utf-8") as file:  # noqa: PTH123 - pathlib is slow to load
            port, token = json.load(file)
        with socket.create_connection(("127.0.0.1", port), timeout=_PATIENCE_S) as harness:
            given = [f"{name}={value}" for name, value in os.environ.items()]
            harness.sendall(json.dumps([token, addresses, given]).encode() + b"\n")
            return 0 if harness.recv(1) == b"0" else 1
    except (OSError, ValueError, KeyboardInterrupt):
        # Ctrl-C comes to the agent's browser as well, which says nothing about it.
        return 1


if __name__ == "__main__":
    sys.exit(main())
