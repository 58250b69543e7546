"""The Python MCP SDK's client as an agent: `agent.py [unchanged | issuer-as-named]` is one run.

`unchanged` is the SDK's provider with its defaults. `issuer-as-named` differs in one thing: the issuer that
the gateway's document names is taken for the right one, and held to from then on.
"""

from __future__ import annotations

import http.server
import json
import os
import ssl
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import anyio
import httpx2
from mcp.client.auth import OAuthClientProvider
from mcp.client.client import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.auth import (
    AuthorizationCodeResult,
    OAuthClientInformationFull,
    OAuthClientMetadata,
    OAuthToken,
)
from pydantic import AnyUrl

AFTER_BROWSER_S = 2.0
SERVICE = os.environ["GATEPROOF_SERVICE_URL"]
CALLBACK = os.environ["GATEPROOF_CALLBACK_URL"]
STATE = Path(os.environ["GATEPROOF_STATE_DIR"])


class Kept:
    """The SDK's token storage, in the state folder."""

    async def get_tokens(self) -> OAuthToken | None:
        text = self._read("tokens.json")
        return OAuthToken.model_validate_json(text) if text else None

    async def set_tokens(self, tokens: OAuthToken) -> None:
        self._write("tokens.json", tokens.model_dump_json())

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        text = self._read("client.json")
        return OAuthClientInformationFull.model_validate_json(text) if text else None

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        self._write("client.json", client_info.model_dump_json())

    def _read(self, name: str) -> str:
        return (STATE / name).read_text() if (STATE / name).is_file() else ""

    def _write(self, name: str, text: str) -> None:
        STATE.mkdir(mode=0o700, parents=True, exist_ok=True)
        (STATE / name).touch(mode=0o600)
        (STATE / name).write_text(text)


class IssuerAsNamed(OAuthClientProvider):
    """The SDK's provider, which believes the first document that names an issuer."""

    def _expected_issuer(self) -> str:
        file = STATE / "issuer.txt"
        if not file.is_file():
            url = f"{self.context.auth_server_url}/.well-known/openid-configuration"
            file.write_text(httpx2.get(url, verify=trust(), trust_env=False).json()["issuer"])
        return file.read_text()


class Callback:
    """One redirect, taken over HTTPS."""

    def __init__(self) -> None:
        self.query: dict[str, list[str]] | None = None
        where, callback = urlsplit(CALLBACK), self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                self.send_response(200)
                self.send_header("Content-Length", "5")
                self.end_headers()
                self.wfile.write(b"done\n")
                callback.query = parse_qs(urlsplit(self.path).query)

            def log_message(self, *arguments: object) -> None:
                """Says nothing: it would print the code."""

        self._server = http.server.ThreadingHTTPServer((where.hostname or "", where.port or 443), Handler)
        tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        tls.load_cert_chain(os.environ["GATEPROOF_TLS_CERT_FILE"], os.environ["GATEPROOF_TLS_KEY_FILE"])
        self._server.socket = tls.wrap_socket(self._server.socket, server_side=True)
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


class User:
    """The SDK's two handlers: what opens the browser, and what comes back from it."""

    def __init__(self) -> None:
        self._callback: Callback | None = None
        self._browser: subprocess.Popen[bytes] | None = None

    async def opens(self, url: str) -> None:
        self._callback = Callback()
        command = [os.environ["BROWSER"], url]
        self._browser = subprocess.Popen(command, stdin=subprocess.DEVNULL)  # noqa: ASYNC220 - it does not wait

    async def comes_back(self) -> AuthorizationCodeResult:
        assert self._callback is not None
        assert self._browser is not None
        left = AFTER_BROWSER_S
        while self._callback.query is None and left > 0:
            await anyio.sleep(0.05)
            left -= 0.05 if self._browser.poll() is not None else 0
        query = self._callback.query or {}
        self._callback.close()
        if "code" not in query:
            raise RuntimeError("no code came back")
        first = {name: values[0] for name, values in query.items()}
        return AuthorizationCodeResult(code=first["code"], state=first.get("state"), iss=first.get("iss"))


def trust() -> ssl.SSLContext:
    return ssl.create_default_context(cafile=os.environ["GATEPROOF_CA_FILE"])


async def run(kind: type[OAuthClientProvider]) -> Any:
    user, url = User(), f"{SERVICE}/mcp"
    metadata = OAuthClientMetadata(client_name="Python SDK", redirect_uris=[AnyUrl(CALLBACK)])
    provider = kind(
        server_url=url,
        client_metadata=metadata,
        storage=Kept(),
        redirect_handler=user.opens,
        callback_handler=user.comes_back,
    )
    http_client = httpx2.AsyncClient(auth=provider, verify=trust(), trust_env=False, timeout=20)
    async with http_client, Client(streamable_http_client(url, http_client=http_client)) as session:
        result = await session.call_tool("list_orders")
        return json.loads(result.content[0].text)["orders"]


def main() -> int:
    kind = IssuerAsNamed if sys.argv[1:] == ["issuer-as-named"] else OAuthClientProvider
    try:
        orders = anyio.run(run, kind)
    except BaseException as problem:  # noqa: BLE001 - groups of exceptions are what the SDK ends with
        print(f"agent: {type(first_of(problem)).__name__}: {first_of(problem)}", file=sys.stderr)
        return 1
    print(f"read {len(orders)} orders")
    return 0


def first_of(problem: BaseException) -> BaseException:
    while isinstance(problem, BaseExceptionGroup):
        problem = problem.exceptions[0]
    return problem


if __name__ == "__main__":
    sys.exit(main())
