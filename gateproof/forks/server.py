"""`python -m gateproof.forks.server [--warm-up MODULE] MODULE …` loads modules once and forks many processes.

A run starts a dozen processes, and a proof hundreds, and loading their modules takes longer than most of them
run. The server loads these modules, and prints a command as one line of JSON. That command, followed by one
of the modules and its arguments, runs the module like `python -m`: with the caller's working folder,
environment, streams and signals, and with the module's exit code. A child ends with its caller, and all
children end with the server's stdin; on Linux also if the server is killed.
"""

from __future__ import annotations

import argparse
import ast
import atexit
import ctypes
import gc
import importlib
import io
import json
import os
import selectors
import shutil
import signal
import socket
import sys
import tempfile
import threading
import time
import traceback
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

# client.py repeats this name, because it imports nothing.
ADDRESS = "calls"
_CLIENT = Path(__file__).parent / "client.py"
_MOST_OCTETS, _AT_ONCE_OCTETS = 16 * 1024 * 1024, 1024 * 1024
# There is no SIGHUP on Windows.
STOPPING = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))
# A caller that was stopped must not stop the server.
_CALLED_WITHIN_S = 5.0
_STREAMS = 3
# Of prctl(2): a signal that the kernel sends when the parent ends, and the name of a process.
_PR_SET_PDEATHSIG, _PR_SET_NAME = 1, 15
_LONGEST_NAME = 15
_LIBC = ctypes.CDLL(None) if sys.platform == "linux" else None
_USUAL_COLLECTION = gc.get_threshold()

Main = Callable[[Sequence[str]], int]


@dataclass(frozen=True, kw_only=True, slots=True)
class Call:
    """What to run, its arguments and environment, and the numbers of signals that came with the call."""

    module: str
    main: Main
    arguments: Sequence[str]
    folder: str
    variables: dict[str, str]
    streams: Sequence[int]
    signals: bytes


class ForkServer:
    """Forks a child for every call; single-threaded, because a fork copies one thread only.

    `main_of` returns the function that runs a module, or None for a module that is not served.
    """

    def __init__(self, listening: socket.socket, until: int, main_of: Callable[[str], Main | None]) -> None:
        self._listening = listening
        self._until = until
        self._main_of = main_of
        self._callers: dict[int, socket.socket] = {}
        self._selector = selectors.DefaultSelector()
        self._woken, waking = socket.socketpair()
        self._woken.setblocking(False)
        waking.setblocking(False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(waking.fileno(), warn_on_full_buffer=False)
        self._waking = waking

    def serve(self) -> None:
        """Serves until the end of `until`, and leaves no child behind."""
        self._selector.register(self._until, selectors.EVENT_READ, "end")
        self._selector.register(self._listening, selectors.EVENT_READ, "call")
        self._selector.register(self._woken, selectors.EVENT_READ, "child")
        try:
            while True:
                for key, _ in self._selector.select():
                    if key.data == "end" and not os.read(self._until, 1):
                        return
                    if key.data == "call":
                        # The caller has gone, or there can be no further process now.
                        with suppress(OSError):
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
        try:
            call = _received(caller, self._main_of)
        except OSError:
            # It has said nothing, or has gone.
            call = None
        if call is None:
            caller.close()
            return
        server = os.getpid()
        # An interrupted child must not go on as the server: it takes signals when it runs the module.
        blocked = signal.pthread_sigmask(signal.SIG_BLOCK, STOPPING)
        try:
            child = os.fork()
            if child == 0:
                _end_with(server)
                self._selector.close()
                for unused in (self._listening, self._woken, self._waking, *self._callers.values()):
                    unused.close()
                _become(call, blocked, caller)
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, blocked)
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


def runner_in(folder: str | Path) -> tuple[str, ...]:
    """The command before a module's name, for the server that listens in this folder."""
    # execnet splits words at two slashes.
    return (_plain(sys.executable), "-I", "-S", _plain(_CLIENT), _plain(folder))


def _plain(path: str | Path) -> str:
    """An absolute path without two slashes one after the other."""
    return "/" + os.path.normpath(path).lstrip("/")


def listening_in(folder: str | Path) -> socket.socket:
    """Changes to the folder, because the address of a socket is limited to about a hundred bytes."""
    os.chdir(folder)
    listening = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    listening.bind(ADDRESS)
    listening.listen(256)
    return listening


def loaded(modules: Sequence[str], warm_up: str = "") -> Callable[[str], Main | None]:
    """Loads the modules, calls `warm_up()` of a further one, and returns how to run one of them."""
    mains = {module: _main(module) for module in modules}
    if warm_up:
        importlib.import_module(warm_up).warm_up()
    # A garbage collection in a child would write to each object, and so copy all shared memory.
    gc.freeze()
    return mains.get


def _main(module: str) -> Main:
    found = importlib.import_module(module)
    if hasattr(found, "__path__"):
        found = importlib.import_module(f"{module}.__main__")
    main: Main = found.main
    return main


def _received(caller: socket.socket, main_of: Callable[[str], Main | None]) -> Call | None:
    """A call with the caller's streams; None if the caller has gone or the call is invalid."""
    caller.settimeout(_CALLED_WITHIN_S)
    data, streams, _, _ = socket.recv_fds(caller, _AT_ONCE_OCTETS, _STREAMS)
    try:
        while data and b"\n" not in data and len(data) < _MOST_OCTETS:
            more = caller.recv(_AT_ONCE_OCTETS)
            data = data + more if more else b""
        said, whole, signals = data.partition(b"\n")
        module, arguments, folder, variables = ast.literal_eval(said.decode()) if whole else ("", [], "", {})
        main = main_of(module)
    except (OSError, ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        main = None
    if main is None or len(streams) != _STREAMS:
        for stream in streams:
            os.close(stream)
        return None
    return Call(
        module=module,
        main=main,
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


def _become(call: Call, blocked: Iterable[int], caller: socket.socket) -> None:
    """Runs the called module in a new child, which ends without returning.

    The caller learns the number of the child and of its process group. Then the child closes this connection,
    because the caller has to see the end of the server.
    """
    code = 1

    def main(arguments: Sequence[str]) -> int:
        signal.pthread_sigmask(signal.SIG_SETMASK, blocked)
        return call.main(arguments)

    try:
        _name(call.module)
        signal.set_wakeup_fd(-1)
        _reset_signals()
        os.setsid()
        with suppress(OSError):
            caller.sendall(f"{os.getpid()}\n".encode())
        caller.close()
        for place, stream in enumerate(call.streams):
            os.dup2(stream, place)
            os.close(stream)
        os.chdir(call.folder)
        os.environ.clear()
        os.environ.update(call.variables)
        # Both depend on the environment, and are computed once.
        tempfile.tempdir = None
        time.tzset()
        gc.set_threshold(*_USUAL_COLLECTION)
        sys.argv = [call.module, *call.arguments]
        _open_streams()
        code = _ended(main, call.arguments)
    except KeyboardInterrupt:
        # When the module had ended already.
        code = 128 + signal.SIGINT
    finally:
        os._exit(code)


def _open_streams() -> None:
    """New standard streams, because those of the server may have other buffers, and text in them."""
    encoding = sys.stderr.encoding if sys.stderr is not None else "utf-8"
    sys.stdin = os.fdopen(0, "r", encoding=encoding, closefd=False)
    # Zero is no buffer, and one is a buffer for a line.
    size, errors = (0, 0) if os.environ.get("PYTHONUNBUFFERED") else (-1, 1)
    sys.stdout = _writer(1, size, encoding, "strict")
    sys.stderr = _writer(2, errors, encoding, "backslashreplace")


def _writer(stream: int, size: int, encoding: str, errors: str) -> io.TextIOWrapper:
    octets = open(stream, "wb", -1 if size == 1 else size, closefd=False)  # noqa: SIM115 - a number
    return io.TextIOWrapper(
        octets, encoding=encoding, errors=errors, line_buffering=size == 1, write_through=size == 0
    )


def _ended(main: Main, arguments: Sequence[str]) -> int:
    """Runs a function to its end, as an interpreter would run a program, and returns the exit code.

    The interpreter itself is not taken down: that would write to, and so copy, most of the shared memory.
    What the server has registered to be done at exit is done by every child, too.
    """
    code = 128 + signal.SIGINT
    try:
        # An interrupt after the end of the program only ends the waiting for its threads.
        with suppress(KeyboardInterrupt):
            code = _code_of(main, arguments)
            threading._shutdown()  # type: ignore[attr-defined]  # noqa: SLF001 - as multiprocessing does
    finally:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        atexit._run_exitfuncs()  # noqa: SLF001 - the same
        for stream in (sys.stdout, sys.stderr):
            with suppress(OSError, ValueError):
                stream.flush()
    return code


def _code_of(main: Main, arguments: Sequence[str]) -> int:
    try:
        return main(arguments)
    except SystemExit as end:
        if end.code is None or isinstance(end.code, int):
            return end.code or 0
        print(end.code, file=sys.stderr)
    except KeyboardInterrupt:
        return 128 + signal.SIGINT
    except BaseException:  # noqa: BLE001 - as an interpreter does
        traceback.print_exc()
    return 1


def _name(module: str) -> None:
    """Shows in /proc and `ps` what runs; the command line there is the server's."""
    if _LIBC is not None:
        name = module.rpartition(".")[2][:_LONGEST_NAME].encode()
        _LIBC.prctl(_PR_SET_NAME, name, 0, 0, 0)


def _reset_signals() -> None:
    """What an exec does: functions of the server handle no signal any more, and ignored ones stay ignored.

    But the server may ignore SIGTERM and SIGINT, and a child must not.
    """
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for number in signal.valid_signals() - {signal.SIGINT}:
        if callable(signal.getsignal(number)):
            signal.signal(number, signal.SIG_DFL)


def _signal(child: int, number: int) -> None:
    with suppress(ProcessLookupError):
        os.kill(child, number)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m gateproof.forks.server", description=__doc__)
    parser.add_argument("modules", nargs="+", metavar="MODULE")
    parser.add_argument("--warm-up", default="", metavar="MODULE")
    given = parser.parse_args()
    main_of = loaded(given.modules, given.warm_up)
    # Accessible to its owner only. Not a TemporaryDirectory, which each fork would remove at its end.
    folder = tempfile.mkdtemp(prefix="gateproof-server-")
    try:
        with listening_in(folder) as listening:
            print(json.dumps(runner_in(folder)), flush=True)
            ForkServer(listening, sys.stdin.fileno(), main_of).serve()
    except BrokenPipeError:
        # The parent has gone; discard the rest of the buffer.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
