"""A small HTTP proxy that adds an access token to each request without one, and counts the requests."""

from __future__ import annotations

import http.client
import ssl
import sys
import threading
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit

_NOT_FORWARDED = {"connection", "content-length", "host", "keep-alive", "transfer-encoding"}
_TIMEOUT_S = 30


class TokenProxy:
    """Forwards to one https origin; `url` is its own."""

    def __init__(self, target_url: str, ca_file: str, token: Callable[[], str]) -> None:
        self._netloc = urlsplit(target_url).netloc
        self._trust = ssl.create_default_context(cafile=ca_file)
        self._token = token
        self._lock = threading.Lock()
        self._requests = 0
        self.url = ""

    @property
    def requests(self) -> int:
        """How many requests came so far."""
        with self._lock:
            return self._requests

    def connect(self) -> http.client.HTTPSConnection:
        return http.client.HTTPSConnection(self._netloc, timeout=_TIMEOUT_S, context=self._trust)

    def headers(self, given: dict[str, str]) -> dict[str, str]:
        """The headers for the target. A foreign Host is forwarded, the proxy's own is replaced."""
        with self._lock:
            self._requests += 1
        kept = {name: value for name, value in given.items() if name.lower() not in _NOT_FORWARDED}
        if not any(name.lower() == "authorization" for name in kept):
            kept["Authorization"] = f"Bearer {self._token()}"
        host = next((value for name, value in given.items() if name.lower() == "host"), "")
        return {"Host": self._netloc if host == urlsplit(self.url).netloc else host, **kept}


class _Server(ThreadingHTTPServer):
    def handle_error(self, *_: object) -> None:
        """A client that ends in the middle of an answer is none."""
        if not isinstance(sys.exception(), ConnectionError):
            traceback.print_exc()


@contextmanager
def token_proxy(target_url: str, ca_file: str, token: Callable[[], str]) -> Iterator[TokenProxy]:
    proxy = TokenProxy(target_url, ca_file, token)
    server = _Server(("127.0.0.1", 0), _handler(proxy))
    proxy.url = f"http://localhost:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield proxy
    finally:
        server.shutdown()
        server.server_close()


def _handler(proxy: TokenProxy) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        """One connection of a client, with one of its own to the target."""

        protocol_version = "HTTP/1.1"
        # Headers and body are two writes; without this, the second one waits for an acknowledgement.
        disable_nagle_algorithm = True

        def setup(self) -> None:
            super().setup()
            self._target = proxy.connect()

        def finish(self) -> None:
            self._target.close()
            super().finish()

        def forward(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", "0")))
            headers = proxy.headers(dict(self.headers))
            try:
                self._target.request(self.command, self.path, body or None, headers)
                answer = self._target.getresponse()
                content = answer.read()
            except (OSError, http.client.HTTPException):
                self._target.close()
                self.send_error(502)
                return
            self.send_response_only(answer.status, answer.reason)
            for name, value in answer.getheaders():
                if name.lower() not in _NOT_FORWARDED:
                    self.send_header(name, value)
            if answer.status >= 200 and answer.status != 204:
                self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        do_GET = do_POST = do_DELETE = forward  # noqa: N815

        def log_message(self, *_: object) -> None:
            """Prints nothing."""

    return Handler
