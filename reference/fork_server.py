"""`python -m gateproof.reference.fork_server [MODULE …]` loads the reference once and forks many gateways.

A proof starts hundreds of gateways, and loading the modules for each takes longer than most of them run. The
server loads these modules, or all that have a gateway, and prints a command as one line of JSON. That
command, followed by one of the modules and its arguments, runs the module like `python -m`: with the caller's
working folder, environment, streams and signals, and with the module's exit code. A child ends with its
caller, and all children end with the server's stdin; on Linux also if the server is killed.
"""

from __future__ import annotations

import ast
import ctypes
import gc
import importlib
import json
import os
import selectors
import signal
import socket
import sys
import tempfile
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from gateproof.reference.warm_up import warm_up

_MODULES = (
    "gateproof.reference.gateway",
    "gateproof.reference.defects",
    "gateproof.reference.variants",
    "gateproof.reference.mutants",
)
# fork_client.py repeats this name, because it imports nothing.
ADDRESS = "calls"
_CLIENT = Path(__file__).parent / "fork_client.py"
_MOST_OCTETS = 1024 * 1024
_STREAMS = 3
# Of prctl(2): a signal that the kernel sends when the parent ends.
_PR_SET_PDEATHSIG = 1


_LIBC = ctypes.CDLL(None) if sys.platform == "linux" else None


@dataclass(frozen=True, kw_only=True, slots=True)
class Call:
    """The module, arguments and environment of one call, and the numbers of signals that came with it."""

    module: str
    arguments: Sequence[str]
    folder: str
    variables: dict[str, str]
    streams: Sequence[int]
    signals: bytes


class ForkServer:
    """Forks a child for every call; single-threaded, because a fork copies one thread only."""

    def __init__(self, listening: socket.socket, modules: Sequence[str]) -> None:
        self._listening = listening
        self._modules = modules
        self._callers: dict[int, socket.socket] = {}
        self._selector = selectors.DefaultSelector()
        self._woken, waking = socket.socketpair()
        self._woken.setblocking(False)
        waking.setblocking(False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(waking.fileno(), warn_on_full_buffer=False)
        self._waking = waking

    def serve(self) -> None:
        """Serves until stdin ends, and leaves no child behind."""
        self._selector.register(sys.stdin.fileno(), selectors.EVENT_READ, "end")
        self._selector.register(self._listening, selectors.EVENT_READ, "call")
        self._selector.register(self._woken, selectors.EVENT_READ, "child")
        try:
            while True:
                for key, _ in self._selector.select():
                    if key.data == "end" and not os.read(sys.stdin.fileno(), 1):
                        return
                    if key.data == "call":
                        with suppress(ConnectionError):
                            self._take(self._listening.accept()[0])
                    elif key.data == "child":
                        self._reap()
                    # Not for a child that was reaped in the meantime.
                    elif key.data in self._callers:
                        self._forward_signal(key.data)
        finally:
            # The wakeup socket is not read any more.
            signal.set_wakeup_fd(-1)
            for child in self._callers:
                _signal(child, signal.SIGKILL)

    def _take(self, caller: socket.socket) -> None:
        call = _received(caller, self._modules)
        if call is None:
            caller.close()
            return
        server = os.getpid()
        child = os.fork()
        if child == 0:
            _end_with(server)
            # Its own caller as well: the caller has to see the end of the server.
            _become(call, close=(self._listening, self._woken, self._waking, caller, *self._callers.values()))
        for stream in call.streams:
            os.close(stream)
        for number in call.signals:
            _signal(child, number)
        self._callers[child] = caller
        self._selector.register(caller, selectors.EVENT_READ, child)

    def _forward_signal(self, child: int) -> None:
        """A caller sends a signal number as one byte; the end of a caller kills its child."""
        with suppress(OSError):
            if number := self._callers[child].recv(1):
                _signal(child, number[0])
                return
        _signal(child, signal.SIGKILL)
        self._selector.unregister(self._callers[child])

    def _reap(self) -> None:
        with suppress(BlockingIOError):
            self._woken.recv(4096)
        while self._callers:
            child, status = os.waitpid(-1, os.WNOHANG)
            if not child:
                return
            caller = self._callers.pop(child)
            with suppress(KeyError):
                self._selector.unregister(caller)
            with suppress(OSError):
                caller.sendall(str(os.waitstatus_to_exitcode(status)).encode())
            caller.close()


def _received(caller: socket.socket, modules: Sequence[str]) -> Call | None:
    """A call with the caller's streams; None if the caller has gone or the call is invalid."""
    data, streams, _, _ = socket.recv_fds(caller, _MOST_OCTETS, _STREAMS)
    while data and b"\n" not in data and len(data) < _MOST_OCTETS:
        more = caller.recv(_MOST_OCTETS)
        data = data + more if more else b""
    said, _, signals = data.partition(b"\n")
    module, arguments, folder, variables = ast.literal_eval(said.decode()) if said else ("", [], "", {})
    if module not in modules or len(streams) != _STREAMS:
        for stream in streams:
            os.close(stream)
        return None
    return Call(
        module=module,
        arguments=arguments,
        folder=folder,
        variables=variables,
        streams=streams,
        signals=signals,
    )


def _end_with(parent: int) -> None:
    """Lets the kernel kill this child when its parent ends, however that happens."""
    if _LIBC is not None:
        _LIBC.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != parent:
            os._exit(1)


def _become(call: Call, *, close: Sequence[socket.socket]) -> None:
    """Runs the called module in a new child."""
    code = 1
    try:
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        # The server may ignore signals; the module must not.
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        os.setsid()
        for unused in close:
            unused.close()
        for place, stream in enumerate(call.streams):
            os.dup2(stream, place)
            os.close(stream)
        os.chdir(call.folder)
        os.environ.clear()
        os.environ.update(call.variables)
        code = _main(call.module)(call.arguments)
        sys.stdout.flush()
    finally:
        os._exit(code)


def _main(module: str) -> Callable[[Sequence[str]], int]:
    name = f"{module}.command" if module == "gateproof.reference.gateway" else f"{module}.__main__"
    found: Callable[[Sequence[str]], int] = importlib.import_module(name).main
    return found


def _signal(child: int, number: int) -> None:
    with suppress(ProcessLookupError):
        os.kill(child, number)


def main() -> int:
    modules = sys.argv[1:] or _MODULES
    for module in modules:
        _main(module)
    warm_up()
    gc.freeze()
    # A temporary folder is accessible to its owner only.
    with tempfile.TemporaryDirectory(prefix="gateproof-server-") as folder:
        # A socket address is limited to about a hundred bytes, so a relative path is used.
        os.chdir(folder)
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listening:
            listening.bind(ADDRESS)
            listening.listen(64)
            try:
                print(json.dumps([sys.executable, "-I", "-S", str(_CLIENT), folder]), flush=True)
            except BrokenPipeError:
                # The parent has gone; discard the rest of the buffer.
                os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
                return 0
            ForkServer(listening, modules).serve()
    return 0


if __name__ == "__main__":
    sys.exit(main())
