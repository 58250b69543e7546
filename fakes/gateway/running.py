"""An event loop in a thread, on which the scripted parties run in the process that scripts them."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from types import TracebackType
from typing import Any, Protocol, Self, TypeVar


class Closable(Protocol):
    """Something that has to be closed when the loop ends."""

    def close(self) -> None: ...


Result = TypeVar("Result")
Opened = TypeVar("Opened", bound=Closable)
_STARTS_WITHIN_S = 10.0


class Loop:
    """An event loop that runs in a thread inside its `with` block, and closes what was opened on it."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._opened: list[Closable] = []

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with contextlib.suppress(RuntimeError):
            self.run(self._close())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(_STARTS_WITHIN_S)
        self._loop.close()

    def opened(self, opening: Callable[[], Coroutine[Any, Any, Opened]]) -> Opened:
        """Runs this coroutine; its result is closed when the loop ends."""
        opened = self.run(opening())
        self._opened.append(opened)
        return opened

    def run(self, work: Coroutine[Any, Any, Result]) -> Result:
        future: Future[Result] = asyncio.run_coroutine_threadsafe(work, self._loop)
        return future.result(_STARTS_WITHIN_S)

    async def _close(self) -> None:
        for opened in self._opened:
            opened.close()
        tasks = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
