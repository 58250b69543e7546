"""Lets `gateproof.forks.server` run a module, with this process's streams, signals and exit code.

It is run as a file, without site-packages and with few imports, to start fast. `_signal` and `_socket` are
used because `signal` and `socket` import `enum`, `re` and more, which takes longer than starting an
interpreter. `array` would import `collections`.
"""

import os
import sys
from _signal import (  # type: ignore[import-not-found]
    SIG_BLOCK,
    SIG_IGN,
    SIG_SETMASK,
    SIGHUP,
    SIGINT,
    SIGTERM,
    getsignal,
    pthread_sigmask,
    signal,
)
from _socket import AF_UNIX, SCM_RIGHTS, SOCK_STREAM, SOL_SOCKET, socket

# The exit code of a shell for a missing program: the fork server is not running, or has not run the module.
_NO_SERVER = 127
_PASSED_ON = (SIGTERM, SIGINT, SIGHUP)
_STREAMS = (0, 1, 2)


def main() -> int:
    server_folder, module, *arguments = sys.argv[1:]
    folder = os.getcwd()  # noqa: PTH109 - pathlib takes as long to load as all the rest
    server = socket(AF_UNIX, SOCK_STREAM)
    # The server reads the call first, so a signal waits until the call is sent.
    blocked_before = pthread_sigmask(SIG_BLOCK, _PASSED_ON)
    try:
        os.chdir(server_folder)
        server.connect("calls")
    except OSError:
        print("gateproof: the process that forks this program has ended", file=sys.stderr)
        return _NO_SERVER
    for number in _PASSED_ON:
        if getsignal(number) == SIG_IGN:
            # As for a run that is to outlive its terminal.
            continue
        signal(number, lambda number, _: _pass_on(number, server))
    call = ascii([module, arguments, folder, dict(os.environ)]).encode() + b"\n"
    try:
        _send(call, server)
        pthread_sigmask(SIG_SETMASK, blocked_before)
        # The streams are the module's now: a reader that waits for their end must not wait for this process.
        quiet = os.open(os.devnull, os.O_RDWR)
        for stream in _STREAMS:
            os.dup2(quiet, stream)
    except OSError:
        return _NO_SERVER
    # The number of the process, which is of no use here, and in the end its exit code.
    code = int(_said(server).partition(b"\n")[2] or _NO_SERVER)
    return code if code >= 0 else 128 - code


def _said(server: socket) -> bytes:
    said = b""
    try:
        while more := server.recv(64):
            said += more
    except OSError:
        # A signal that came too late was not read: then the connection is reset after the last octet.
        pass
    return said


def _send(call: bytes, server: socket) -> None:
    as_integers = b"".join(stream.to_bytes(4, sys.byteorder) for stream in _STREAMS)
    sent = server.sendmsg([call], [(SOL_SOCKET, SCM_RIGHTS, as_integers)])
    # Nothing after the whole call: its module may have ended, and the server has closed the connection.
    while sent < len(call):
        sent += server.send(call[sent:])


def _pass_on(number: int, server: socket) -> None:
    try:  # noqa: SIM105 - contextlib takes longer to load than an interpreter
        server.send(bytes([number]))
    except OSError:
        # The module has ended already.
        pass


if __name__ == "__main__":
    sys.exit(main())
