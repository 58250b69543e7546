"""One Chromium for a worker, and the thread that controls it."""

from __future__ import annotations

import asyncio
import atexit
import os
import signal
import threading
from contextlib import suppress
from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeVar

from gateproof.conformance.signin.chromium.finding import chromium, missing
from gateproof.conformance.signin.chromium.seal import new_proxy_certificate
from gateproof.conformance.signin.sign_in_result import SignInFailed
from gateproof.conformance.targets.processes import signal_group

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

Result = TypeVar("Result")

_START_S = 60.0
_END_S = 5.0
# Chromium must send only what pages request, and only through the proxy of the context. The default proxy is
# a closed port, and no host name is resolved.
_ARGUMENTS = (
    "--disable-background-networking",
    "--disable-breakpad",
    "--disable-component-update",
    "--disable-default-apps",
    "--disable-domain-reliability",
    "--disable-gpu",
    "--disable-quic",
    "--disable-sync",
    "--dns-prefetch-disable",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
    "--metrics-recording-only",
    "--no-default-browser-check",
    "--no-first-run",
    "--no-pings",
    "--proxy-bypass-list=<-loopback>",
    "--proxy-server=http://127.0.0.1:9",
    "--webrtc-ip-handling-policy=disable_non_proxied_udp",
)


class Chromium:
    """Starts on first use, and ends with its owner.

    The driver process has its own session, so Ctrl-C at the terminal does not reach it. It ends with this
    process in any case, and Chromium with it.
    """

    def __init__(self) -> None:
        self.seal = new_proxy_certificate()
        self._lock = threading.Lock()
        self._loop: _Loop | None = None
        self._thread: threading.Thread | None = None
        self._browser: Any = None
        self._playwright: Any = None
        self._ended = False

    def carry_out(self, act: Callable[[Any], Awaitable[Result]], *, timeout_s: float) -> Result:
        """Runs an action in the browser's event loop, and waits for its result."""
        loop = self._started()
        try:
            return _wait(act(self._browser), loop, timeout_s)
        except Exception as error:
            if type(error).__module__.partition(".")[0] != "playwright":
                raise
            # The library's error text may contain URLs and typed text.
            raise SignInFailed(f"Chromium failed: {type(error).__name__}") from None

    def soon(self, act: Callable[[Any], Awaitable[None]]) -> None:
        """Runs an action without waiting for it."""
        if self._loop is not None and self._browser is not None and not self._ended:
            with suppress(RuntimeError):
                asyncio.run_coroutine_threadsafe(_quietly(act(self._browser)), self._loop)

    def close(self) -> None:
        """Ends the browser and its driver; processes that remain are killed."""
        with self._lock:
            loop, thread, ended, self._ended = self._loop, self._thread, self._ended, True
        if loop is None or thread is None or ended:
            return
        atexit.unregister(self.close)
        with suppress(Exception):
            _wait(self._end(), loop, _END_S)
        for group in loop.groups:
            signal_group(group, signal.SIGKILL)
        loop.call_soon_threadsafe(loop.stop)
        thread.join(_END_S)
        if not thread.is_alive():
            loop.close()

    def _started(self) -> _Loop:
        with self._lock:
            if self._ended:
                raise SignInFailed("Chromium has been closed")
            if self._loop is None:
                if lacking := missing():
                    raise SignInFailed(lacking)
                self._loop = _Loop()
                self._thread = threading.Thread(target=self._loop.run_forever, name="chromium", daemon=True)
                self._thread.start()
                atexit.register(self.close)
            if self._browser is None or not self._browser.is_connected():
                try:
                    _wait(self._start(), self._loop, _START_S)
                except SignInFailed:
                    raise
                except Exception as error:  # noqa: BLE001 - its text may contain anything
                    raise SignInFailed(f"Chromium did not start: {type(error).__name__}") from None
            return self._loop

    async def _start(self) -> None:
        # Imported here: Playwright and its type hints are optional.
        if self._playwright is None:
            self._playwright = await import_module("playwright.async_api").async_playwright().start()
        self._browser = await self._playwright.chromium.launch(
            executable_path=str(chromium()),
            # Chromium cannot use its sandbox as root.
            chromium_sandbox=os.geteuid() != 0,
            args=[*_ARGUMENTS, f"--ignore-certificate-errors-spki-list={self.seal.digest}"],
            handle_sigint=False,
            handle_sigterm=False,
            handle_sighup=False,
            timeout=_START_S * 1000,
        )

    async def _end(self) -> None:
        if self._browser is not None:
            await self._browser.close()
        if self._playwright is not None:
            await self._playwright.stop()


class _Loop(asyncio.SelectorEventLoop):
    """An event loop that starts child processes in their own sessions and remembers them."""

    def __init__(self) -> None:
        super().__init__()
        self.groups: list[int] = []

    async def subprocess_exec(self, *arguments: Any, **options: Any) -> Any:
        """Starts a program in its own session, away from the terminal."""
        made = await super().subprocess_exec(*arguments, start_new_session=True, **options)
        self.groups.append(made[0].get_pid())
        return made


def _wait(act: Awaitable[Result], loop: _Loop, timeout_s: float) -> Result:
    future = asyncio.run_coroutine_threadsafe(_awaited(act), loop)
    try:
        return future.result(timeout_s)
    except TimeoutError:
        raise SignInFailed(f"Chromium did not finish within {timeout_s:g} s") from None
    finally:
        future.cancel()


async def _awaited(act: Awaitable[Result]) -> Result:
    return await act


async def _quietly(act: Awaitable[None]) -> None:
    with suppress(Exception):
        await act
