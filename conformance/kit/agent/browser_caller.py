"""Hands an address and its environment to the harness, and ends when the user's browser is done with it.

It is the browser command where bash cannot be (`browser_program.py`), and runs as a file, without
site-packages. It uses `_socket` and no JSON, because `socket` and `json` import `enum`, `re` and more, which
takes longer than starting an interpreter. Arguments and variables contain no zero octet, so a zero octet ends
each of them.
"""

import os
import sys
from _socket import AF_INET, SOCK_STREAM, socket

_PATIENCE_S = 60.0


def main() -> int:
    place, *addresses = sys.argv[1:]
    try:
        with open(place, encoding="utf-8") as file:  # noqa: PTH123 - pathlib is slow to load
            port, token = file.read().split()
        harness = socket(AF_INET, SOCK_STREAM)
        harness.settimeout(_PATIENCE_S)
        harness.connect(("127.0.0.1", int(port)))
        given = [f"{name}={value}" for name, value in os.environ.items()]
        said = [token, str(len(addresses)), str(len(given)), *addresses, *given]
        harness.sendall(b"".join(os.fsencode(text) + b"\0" for text in said))
        return 0 if harness.recv(1) == b"0" else 1
    except (OSError, ValueError, KeyboardInterrupt):
        # Ctrl-C also reaches this process; it ends without a traceback.
        return 1


if __name__ == "__main__":
    sys.exit(main())
