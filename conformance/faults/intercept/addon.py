"""The part of the intercepting proxy that runs inside mitmproxy, where this project is not installed.

mitmproxy loads this file by its path, so it imports nothing of this project. Modules of mitmproxy are taken
from sys.modules, so that it works only inside mitmproxy. mitmproxy ignores exceptions of an addon and lets
the exchange pass unchanged. So every exception here is recorded and reported, and its exchange is killed.
"""

from __future__ import annotations

import asyncio
import base64
import json
import os
import re
import sys
from collections import Counter, deque
from typing import Any

_SOCKET, _TOKEN = "GATEPROOF_INTERCEPT_SOCKET", "GATEPROOF_INTERCEPT_TOKEN"
_MOST_LINE = 16 * 1024 * 1024
_MOST_KEPT, _MOST_BODY = 2000, 64 * 1024


def _of_mitmproxy(module: str) -> Any:
    return sys.modules[f"mitmproxy.{module}"]


class Intercept:
    """Gets commands over a socket, and changes exchanges as the rules say."""

    def __init__(self) -> None:
        self._master: Any = None
        self._hops: dict[str, str] = {}
        self._rules: list[dict[str, Any]] = []
        self._fired: Counter[str] = Counter()
        self._passed: deque[dict[str, Any]] = deque(maxlen=_MOST_KEPT)
        self._troubles: list[str] = []
        self._serving: asyncio.Task[None] | None = None

    def load(self, loader: Any) -> None:
        self._master = loader.master

    def running(self) -> None:
        """Servers can be created only after this event."""
        self._serving = asyncio.get_running_loop().create_task(self._serve())

    async def _serve(self) -> None:
        """Handles commands until the socket closes; then the proxy shuts down."""
        try:
            reader, writer = await asyncio.open_unix_connection(os.environ[_SOCKET], limit=_MOST_LINE)
            writer.write(_line({"token": os.environ[_TOKEN]}))
            while order := await reader.readline():
                writer.write(_line(await self._execute(order)))
                await writer.drain()
        finally:
            self._master.shutdown()

    async def _execute(self, order: bytes) -> dict[str, Any]:
        try:
            given = json.loads(order)
            match given["do"]:
                case "hops":
                    return {"ports": await self._open(given["hops"])}
                case "rules":
                    self._rules = given["rules"]
                    self._fired.clear()
                    return {}
                case "report":
                    return {"fired": dict(self._fired), "troubles": self._troubles}
                case "passed":
                    passed, self._passed = list(self._passed), deque(maxlen=_MOST_KEPT)
                    return {"passed": passed}
            return {"error": f"no such order: {given['do']}"}
        except Exception as trouble:  # noqa: BLE001 - every error is reported
            return {"error": f"{type(trouble).__name__}: {trouble}"}

    async def _open(self, hops: dict[str, str]) -> dict[str, int]:
        """Opens a listener for every hop.

        Two modes with port 0 in the options collide, so the list of servers is updated directly.
        """
        parse = _of_mitmproxy("proxy.mode_specs").ProxyMode.parse
        modes = {hop: parse(f"reverse:{upstream}@127.0.0.1:0") for hop, upstream in hops.items()}
        if len(set(modes.values())) != len(modes):
            raise ValueError("two hops have the same upstream")
        servers = self._master.addons.get("proxyserver").servers
        if not await servers.update(modes.values()):
            raise OSError("a hop could not be opened")
        self._hops = {mode.full_spec: hop for hop, mode in modes.items()}
        return {hop: servers[mode].listen_addrs[0][1] for hop, mode in modes.items()}

    async def request(self, flow: Any) -> None:
        await self._guarded(flow, "request")

    def responseheaders(self, flow: Any) -> None:
        """Server-sent events are passed on one by one."""
        if flow.response.headers.get("content-type", "").startswith("text/event-stream"):
            flow.response.stream = True

    async def response(self, flow: Any) -> None:
        await self._guarded(flow, "response")
        self._keep(flow)

    def error(self, flow: Any) -> None:
        self._keep(flow)

    async def _guarded(self, flow: Any, at: str) -> None:
        try:
            for rule in self._rules:
                if self._matches(rule, flow, at):
                    await self._apply(rule, flow)
                    self._fired[rule["name"]] += 1
        except Exception as trouble:  # noqa: BLE001 - an unchanged exchange would prove nothing
            self._troubles.append(f"{type(trouble).__name__} in a rule")
            flow.kill()

    def _matches(self, rule: dict[str, Any], flow: Any, at: str) -> bool:
        asked = flow.request
        spent = rule["times"] is not None and self._fired[rule["name"]] >= rule["times"]
        return (
            not spent
            and rule["at"] == at
            and rule["hop"] in ("", self._hop(flow))
            and rule["method"] in ("", asked.method)
            and asked.path.partition("?")[0].endswith(rule["path"])
            and re.search(rule["body"].encode(), asked.raw_content or b"") is not None
        )

    async def _apply(self, rule: dict[str, Any], flow: Any) -> None:
        message = flow.response if rule["at"] == "response" else flow.request
        match rule["act"]:
            case "kill":
                flow.kill()
            case "answer":
                content = base64.b64decode(rule["content"], validate=True)
                make = _of_mitmproxy("http").Response.make
                flow.response = make(rule["status"], content, dict(rule["headers"]))
            case "delay":
                await asyncio.sleep(rule["seconds"])
            case "set-body":
                # Set through `content`: `raw_content` would keep the old Content-Length.
                message.content = base64.b64decode(rule["content"], validate=True)
            case unknown:
                raise ValueError(f"no such act: {unknown}")

    def _hop(self, flow: Any) -> str:
        return self._hops.get(flow.client_conn.proxy_mode.full_spec, "")

    def _keep(self, flow: Any) -> None:
        asked, answer = flow.request, flow.response
        self._passed.append(
            {
                "hop": self._hop(flow),
                "method": asked.method,
                "path": asked.path,
                "request_headers": _texts(asked.headers),
                "request_body": _kept(asked.raw_content),
                "status": None if answer is None else answer.status_code,
                "answer_headers": [] if answer is None else _texts(answer.headers),
                "answer_body": "" if answer is None else _kept(answer.raw_content),
            }
        )


def _line(document: dict[str, Any]) -> bytes:
    return json.dumps(document).encode() + b"\n"


def _texts(headers: Any) -> list[list[str]]:
    return [[name.decode("latin-1"), value.decode("latin-1")] for name, value in headers.fields]


def _kept(body: bytes | None) -> str:
    return base64.b64encode((body or b"")[:_MOST_BODY]).decode("ascii")


addons = [Intercept()]
