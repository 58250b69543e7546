"""A threaded HTTP server on loopback, for fakes that are small enough for the standard library."""

from __future__ import annotations

import ssl
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Self


class LoopbackServer:
    """Listens inside its `with` block, over TLS if it has a certificate; `origin` is its address."""

    def __init__(
        self, handler: type[BaseHTTPRequestHandler], certificate: tuple[str, str] | None = None
    ) -> None:
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        if certificate is not None:
            context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
            context.load_cert_chain(*certificate)
            self._server.socket = context.wrap_socket(
                self._server.socket, server_side=True, do_handshake_on_connect=False
            )
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01})
        scheme = "http" if certificate is None else "https"
        self.origin = f"{scheme}://127.0.0.1:{self._server.server_address[1]}"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._thread.join(5)
        self._server.server_close()
