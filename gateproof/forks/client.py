"""Lets `gateproof.forks.server` run a module, with this process's streams, signals and exit code.

It is run as a file, without site-packages and with few imports, to start fast. `_signal` and `_socket` are
used because `signal` and `socket` import `enum`, `re` and more, which takes longer than starting an
interpreter. `array` would import `collections`.
"""

import os
import sys
from _signal import SIGINT, SIGTERM, signal  # type: ignore[import-not-found]
from _socket import AF_UNIX, SCM_RIGHTS, SOCK_STREAM, SOL_SOCKET, socket

# The exit code of a shell for a missing program: the fork server is not running.
_NO_SERVER = 127


def main() -> int:
    server_folder, module, *arguments = sys.argv[1:]
    folder = os.getcwd()  # noqa: PTH109 - pathlib takes as long to load as all the rest
    server = socket(AF_UNIX, SOCK_STREAM)
    try:
        os.chdir(server_folder)
        server.connect("calls")
    except OSError:
        print("gateproof: the process that forks this program has ended", file=sys.stderr)
        return _NO_SERVER
    for number in (SIGTERM, SIGINT):
        signal(number, lambda number, _: server.send(bytes([number])))
    call = ascii([module, arguments, folder, dict(os.environ)]).encode() + b"\n"
    streams = (0, 1, 2)
    as_integers = b"".join(stream.to_bytes(4, sys.byteorder) for stream in streams)
    sent = server.sendmsg([call], [(SOL_SOCKET, SCM_RIGHTS, as_integers)])
    server.sendall(call[sent:])
    # The streams belong to the module now: a reader that waits for their end must not wait for this process.
    quiet = os.open(os.devnull, os.O_RDWR)
    for stream in streams:
        os.dup2(quiet, stream)
    code = int(server.recv(16) or b"1")
    return code if code >= 0 else 128 - code


if __name__ == "__main__":
    sys.exit(main())
