"""Has `gateproof.reference.standby` run a module, and stands for it: its streams, its signals, its exit code.

It is run as a file, without site-packages and with as few modules as can be: it is all that a start costs.
The documented faces of the two modules below load `enum`, `re` and more, which takes longer than to start an
interpreter.
"""

import os
import sys
from _signal import SIGINT, SIGTERM, signal  # type: ignore[import-not-found]
from _socket import AF_UNIX, SCM_RIGHTS, SOCK_STREAM, SOL_SOCKET, socket
from array import array

# What a shell says of a program that is not there: nobody stands by.
_NOBODY = 127


def main() -> int:
    standing, module, *arguments = sys.argv[1:]
    folder = os.getcwd()  # noqa: PTH109 - pathlib takes as long to load as all the rest
    standby = socket(AF_UNIX, SOCK_STREAM)
    try:
        os.chdir(standing)
        standby.connect("calls")
    except OSError:
        print("reference standby: nobody stands by any more", file=sys.stderr)
        return _NOBODY
    for number in (SIGTERM, SIGINT):
        signal(number, lambda number, _: standby.send(bytes([number])))
    call = ascii([module, arguments, folder, dict(os.environ)]).encode() + b"\n"
    streams = array("i", [0, 1, 2])
    sent = standby.sendmsg([call], [(SOL_SOCKET, SCM_RIGHTS, streams)])
    standby.sendall(call[sent:])
    # The streams are the module's now: whoever waits for their end must not wait for this process.
    quiet = os.open(os.devnull, os.O_RDWR)
    for stream in streams:
        os.dup2(quiet, stream)
    code = int(standby.recv(16) or b"1")
    return code if code >= 0 else 128 - code


if __name__ == "__main__":
    sys.exit(main())
