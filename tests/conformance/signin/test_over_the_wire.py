"""The browser on the run's own client, against a server on loopback."""

import functools
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

import pytest

from gateproof.conformance.signin.forms import FormsSignIn
from gateproof.conformance.signin.sign_in_result import SignInRequest
from gateproof.conformance.suite.parties import User
from gateproof.conformance.wire.client import Wire
from gateproof.conformance.wire.route import Place
from gateproof.conformance.wire.secret import Secret

CALLBACK = "https://agent.example/cb"
ALICE = User(name="alice", login="alice@merchant.example", password=Secret("password", "p\u00e4ss w&rd"))


class _Gateway(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        self.answer(
            "<form method=post action='/login?keep=1'><input type=hidden name=t value='1'>"
            "<input name=login><input type=password name=pw><button>Sign in</button></form>",
            "Set-Cookie: s=1; Secure; HttpOnly; Path=/",
        )

    def do_POST(self):
        form = parse_qs(self.rfile.read(int(self.headers["Content-Length"])).decode())
        known = form == {"t": ["1"], "login": [ALICE.login], "pw": [ALICE.password.reveal()]}
        bound = self.headers["Cookie"] == "s=1" and urlsplit(self.path).query == "keep=1"
        self.answer("", f"Location: {CALLBACK}?code=c", status=303 if known and bound else 403)

    def answer(self, body, header, status=200):
        self.send_response(status)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(body)))
        self.send_header(*header.split(": ", 1))
        self.end_headers()
        self.wfile.write(body.encode())

    def log_message(self, *args):
        pass


@pytest.fixture
def origin():
    with ThreadingHTTPServer(("127.0.0.1", 0), _Gateway) as server:
        server.daemon_threads = True
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


def test_a_user_signs_in_over_http(origin):
    recorded = []
    wire = Wire((Place(origins=frozenset({origin})),), timeout_s=10, record=recorded.append)
    way = FormsSignIn(send=functools.partial(wire.send, "browser"), may_visit=wire.may_reach)

    landing = way.sign_in(
        SignInRequest(authorization_url=f"{origin}/auth?state=1", redirect_uri=CALLBACK, user=ALICE)
    )
    wire.close()

    assert landing.redirected_to == f"{CALLBACK}?code=c", landing.outcome()
    assert [exchange.request.method for exchange in recorded] == ["GET", "POST"]
