"""Has `reference.standby` run a module, and stands for it: its streams, its signals, its exit code.

It is run as a file, without site-packages and with as few modules as can be: it is all that a start costs.
"""

import json
import os
import signal
import socket
import sys

# What a shell says of a program that is not there: nobody stands by.
_NOBODY = 127


def main() -> int:
    standing, module, *arguments = sys.argv[1:]
    folder = os.getcwd()  # noqa: PTH109 - pathlib takes as long to load as all the rest
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as standby:
        try:
            os.chdir(standing)
            standby.connect("calls")
        except OSError:
            print("reference standby: nobody stands by any more", file=sys.stderr)
            return _NOBODY
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda number, _: standby.send(bytes([number])))
        call = json.dumps([module, arguments, folder, dict(os.environ)]).encode() + b"\n"
        sent = socket.send_fds(standby, [call], [0, 1, 2])
        standby.sendall(call[sent:])
        # The streams are the module's now: whoever waits for their end must not wait for this process.
        quiet = os.open(os.devnull, os.O_RDWR)
        for stream in (0, 1, 2):
            os.dup2(quiet, stream)
        code = int(standby.recv(16) or b"1")
    return code if code >= 0 else 128 - code


if __name__ == "__main__":
    sys.exit(main())
