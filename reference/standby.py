"""`python -m gateproof.reference.standby` loads the reference once, and starts many gateways.

A proof starts hundreds of gateways, and to load the same modules for each would take longer than most of them
live. It prints a command as one line of JSON. That command, followed by a module of the reference and its
arguments, runs the module like `python -m` would: with the caller's working folder, variables and streams,
ended by a signal to it, and with the module's exit code. What it starts ends with its caller, and all of it
with the end of stdin.
"""

from __future__ import annotations

import ast
import asyncio
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

import httpx
from uvicorn import Config

_MODULES = ("gateproof.reference.gateway", "gateproof.reference.defects", "gateproof.reference.variants")
# The caller says it too: it loads nothing of ours.
ADDRESS = "calls"
_CALLER = Path(__file__).parent / "standby_caller.py"
_MOST_OCTETS = 1024 * 1024
_STREAMS = 3


@dataclass(frozen=True, kw_only=True, slots=True)
class Call:
    """What a caller wants to run, and with what around it."""

    module: str
    arguments: Sequence[str]
    folder: str
    variables: dict[str, str]
    streams: Sequence[int]


class Standby:
    """Forks a child for every call; one thread, since a fork copies no other."""

    def __init__(self, listening: socket.socket) -> None:
        self._listening = listening
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
                    # A child that was just reaped is nobody's any more, whatever its caller said last.
                    elif key.data in self._callers:
                        self._hear(key.data)
        finally:
            # Nobody listens any more for what the end of the children would wake.
            signal.set_wakeup_fd(-1)
            for child in self._callers:
                _signal(child, signal.SIGKILL)

    def _take(self, caller: socket.socket) -> None:
        call = _received(caller)
        if call is None:
            caller.close()
            return
        child = os.fork()
        if child == 0:
            _become(call, close=(self._listening, self._woken, self._waking, *self._callers.values()))
        for stream in call.streams:
            os.close(stream)
        self._callers[child] = caller
        self._selector.register(caller, selectors.EVENT_READ, child)

    def _hear(self, child: int) -> None:
        """A caller passes on a signal, as one octet; one that is gone takes its child along."""
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


def _received(caller: socket.socket) -> Call | None:
    """A call, with the caller's streams beside it; None from whoever went away or wants something else."""
    said, streams, _, _ = socket.recv_fds(caller, _MOST_OCTETS, _STREAMS)
    while said and not said.endswith(b"\n") and len(said) < _MOST_OCTETS:
        more = caller.recv(_MOST_OCTETS)
        said = said + more if more else b""
    module, arguments, folder, variables = ast.literal_eval(said.decode()) if said else ("", [], "", {})
    if module not in _MODULES or len(streams) != _STREAMS:
        for stream in streams:
            os.close(stream)
        return None
    return Call(module=module, arguments=arguments, folder=folder, variables=variables, streams=streams)


def _become(call: Call, *, close: Sequence[socket.socket]) -> None:
    """Turns a fresh child into what the caller called for."""
    code = 1
    try:
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        # Who started the standby may pass over signals that are for it; these are for the module.
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


async def _warm_up() -> None:
    """Loads what a gateway loads at its first request, and at its first one to a merchant."""
    Config(_nothing, log_config=None, lifespan="off", ws="none").load()
    async with httpx.AsyncClient() as client:
        with suppress(httpx.HTTPError):
            # Nobody listens on the discard port of this machine, and if somebody did, it would discard.
            await client.get("http://127.0.0.1:9/", timeout=1.0)


async def _nothing(_scope: object, _receive: object, _send: object) -> None:
    """An application that nobody asks."""


def _signal(child: int, number: int) -> None:
    with suppress(ProcessLookupError):
        os.kill(child, number)


def main() -> int:
    for module in _MODULES:
        _main(module)
    asyncio.run(_warm_up())
    gc.freeze()
    # Only its owner gets into a folder that is made like this.
    with tempfile.TemporaryDirectory(prefix="gateproof-standby-") as folder:
        # The address of a socket may be some hundred octets long, the path of a folder much longer.
        os.chdir(folder)
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listening:
            listening.bind(ADDRESS)
            listening.listen(64)
            try:
                print(json.dumps([sys.executable, "-I", "-S", str(_CALLER), folder]), flush=True)
            except BrokenPipeError:
                # Whoever started this is gone already; what is left in the buffer is for nobody.
                os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
                return 0
            Standby(listening).serve()
    return 0


if __name__ == "__main__":
    sys.exit(main())
