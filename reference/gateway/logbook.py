"""The log: one line for each request, and some about the merchant; it contains no secrets."""

from __future__ import annotations

import sys
from collections import deque

from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from gateproof.reference.gateway.policies import Policies
from gateproof.reference.gateway.store import Store

MOST_LINES = 100_000


class Logbook:
    """Lines go to stdout, and are kept until the control action `logs` reads them."""

    def __init__(self, *, echo: bool) -> None:
        self._echo = echo
        self._lines: deque[str] = deque(maxlen=MOST_LINES)

    def write(self, line: str) -> None:
        self._lines.append(line)
        if self._echo:
            # In one piece, because stdout may be unbuffered.
            sys.stdout.write(f"{line}\n")
            sys.stdout.flush()

    def drain(self) -> str:
        text = "".join(f"{line}\n" for line in self._lines)
        self._lines.clear()
        return text


class RequestLog:
    """Logs method, path and status of every request, and the type of unexpected errors."""

    def __init__(self, app: ASGIApp, *, log: Logbook, policies: Policies, store: Store) -> None:
        self._app = app
        self._log = log
        self._policies = policies
        self._store = store

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        status = 0

        async def noting(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        trouble = ""
        try:
            await self._app(scope, receive, noting)
        except ClientDisconnect:
            trouble = " the client went away"
        except Exception as error:  # noqa: BLE001 - only the type, because the text may quote the request
            trouble = f" {type(error).__name__} in {_place(error)}"
        self._log.write(f"{scope['method']} {self._path(scope)} {status or '-'}{trouble}")

    def _path(self, scope: Scope) -> str:
        """The path, unless it is unknown or has an unknown Resource ID: then it could contain secrets."""
        if "endpoint" not in scope:
            return "(no such path)"
        resource_id = scope.get("path_params", {}).get("resource_id")
        if resource_id is not None and resource_id not in self._store.resources:
            return "(no such Resource)"
        return self._policies.logged_path(scope["path"], scope["query_string"].decode("latin-1"))


def _place(error: BaseException) -> str:
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    return "?" if trace is None else f"{trace.tb_frame.f_code.co_qualname}:{trace.tb_lineno}"
