"""The HTTPS server for the redirect URI."""

from __future__ import annotations

import queue
import ssl
import threading
from collections.abc import Callable, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Self
from urllib.parse import parse_qs, urlsplit

from gateproof.reference.agent.policy.authorization import Query
from gateproof.reference.agent.settings import Settings
from gateproof.reference.agent.wire import Failed

# The redirect may arrive after the browser command has ended.
AFTER_BROWSER_S = 2.0
CLOSE = "You may close this window."
_POLL_S = 0.05


class Callback:
    """Listens until the end of its `with` block, and returns redirects in order of arrival."""

    def __init__(
        self,
        settings: Settings,
        log: Callable[[str], None] = lambda _line: None,
        page: Callable[[], str | None] = lambda: CLOSE,
        page_headers: Callable[[], Mapping[str, str]] = dict,
    ) -> None:
        self._settings = settings
        self._path = urlsplit(settings.callback_url).path or "/"
        self._log = log
        self._page = page
        self._page_headers = page_headers
        self._came: queue.Queue[Query] = queue.Queue()
        self._server: ThreadingHTTPServer | None = None

    def __enter__(self) -> Self:
        return self

    def listen(self) -> None:
        """Begins to listen, unless it does already."""
        if self._server is not None:
            return
        settings, where = self._settings, urlsplit(self._settings.callback_url)
        tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        try:
            tls.load_cert_chain(settings.tls_cert_file, settings.tls_key_file)
            server = ThreadingHTTPServer((where.hostname or "", where.port or 443), self._handler())
        except OSError as problem:
            raise Failed(f"cannot listen for the redirect: {problem.strerror}") from None
        server.daemon_threads = True
        # A connection without a TLS handshake must not block the next one.
        server.socket = tls.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
        self._server = server
        self._serve(server)

    def _serve(self, server: ThreadingHTTPServer) -> None:
        threading.Thread(target=server.serve_forever, args=(_POLL_S,), daemon=True).start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._server is not None:
            self._server.shutdown()
            self._server.server_close()

    def next(
        self, browser_is_done: Callable[[], bool], patience_s: float, after_browser_s: float = AFTER_BROWSER_S
    ) -> Query | None:
        """The next redirect; None if the time is over or the browser has ended before one arrives."""
        left, left_alone = patience_s, after_browser_s
        while left > 0 and left_alone > 0:
            try:
                return self._came.get(timeout=_POLL_S)
            except queue.Empty:
                left -= _POLL_S
                left_alone -= _POLL_S if browser_is_done() else 0
        return None

    def _handler(callback) -> type[BaseHTTPRequestHandler]:  # noqa: N805 - `self` is the handler's, inside
        class Handler(BaseHTTPRequestHandler):
            timeout = 10

            def do_GET(self) -> None:
                parts = urlsplit(self.path)
                found = parts.path == callback._path
                page = callback._page() if found else "Nothing is here."
                if page is not None:
                    self._show(200 if found else 404, page.encode())
                if found:
                    callback._log(self.path)
                    callback._came.put(parse_qs(parts.query, keep_blank_values=True))

            def _show(self, status: int, body: bytes) -> None:
                self.send_response(status)
                for name, value in (
                    ("Content-Type", "text/plain; charset=utf-8"),
                    ("Content-Length", str(len(body))),
                    ("Referrer-Policy", "no-referrer"),
                    *callback._page_headers().items(),
                ):
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *arguments: object) -> None:
                """Logs nothing, because the path contains the code."""

        return Handler
