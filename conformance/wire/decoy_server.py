"""Serves a forger's keys on loopback, for verifiers that follow URLs in a token's header."""

from __future__ import annotations

import base64
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

from gateproof.conformance.wire.forgery import own_certificate, own_jwk


@contextmanager
def decoy_server(algorithm: str) -> Iterator[str]:
    """Serves the forger's key set and certificate during the block; yields the base URL.

    The key has the `kid` that the query asks for.
    """
    body = base64.encodebytes(own_certificate(algorithm)).decode()
    pem = f"-----BEGIN CERTIFICATE-----\n{body}-----END CERTIFICATE-----\n".encode()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            kid = parse_qs(urlsplit(self.path).query).get("kid", ["forger"])[0]
            jwks = json.dumps({"keys": [own_jwk(algorithm, kid=kid, alg=algorithm, use="sig")]}).encode()
            served = (pem, "application/x-pem-file") if self.path == "/x5u" else (jwks, "application/json")
            self.send_response(200)
            self.send_header("Content-Type", served[1])
            self.send_header("Content-Length", str(len(served[0])))
            self.end_headers()
            self.wfile.write(served[0])

        def log_message(self, *_: object) -> None:
            """No log."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=lambda: server.serve_forever(poll_interval=0.02), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join(timeout=5)
