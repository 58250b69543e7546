"""The merchant runs as a process of its own, over real TLS, and goes when it is let go."""

from __future__ import annotations

import json
import os
import pickle
import signal
import socket
import ssl
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any
from urllib.parse import urlencode

import httpx
import pytest
import trustme
from selectolax.lexbor import LexborHTMLParser

from gateproof.fakes.merchant.admin import MerchantAdmin, MerchantAdminError
from gateproof.fakes.merchant.config import MerchantConfig, TargetAccess, TlsFiles
from gateproof.fakes.merchant.process import MerchantProcess, MerchantStartError, start
from gateproof.fakes.merchant.script import Answer

TOKEN = "an-admin-token-of-tests"
ALICE = "alice@merchant.example"
JWT_BEARER = "urn:ietf:params:oauth:grant-type:jwt-bearer"


class KeyServer(BaseHTTPRequestHandler):
    """A gateway's per-Resource JWKS over TLS, for whoever sends the header that it asks for."""

    keys: list[dict[str, Any]]

    def do_GET(self) -> None:
        body = json.dumps({"keys": self.keys}).encode()
        self.send_response(200 if self.headers["X-Staging"] == "1" else 403)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture(scope="module")
def ca(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, TlsFiles]:
    folder = tmp_path_factory.mktemp("tls")
    authority = trustme.CA()
    authority.cert_pem.write_to_path(folder / "ca.pem")
    leaf = authority.issue_cert("127.0.0.1", "localhost")
    leaf.private_key_pem.write_to_path(folder / "key.pem")
    leaf.cert_chain_pems[0].write_to_path(folder / "cert.pem")
    return folder / "ca.pem", TlsFiles(cert_file=folder / "cert.pem", key_file=folder / "key.pem")


@pytest.fixture(scope="module")
def process(ca: tuple[Path, TlsFiles]) -> Iterator[MerchantProcess]:
    ca_file, tls = ca
    target = TargetAccess(ca_file=ca_file, headers={"X-Staging": "1"})
    with start(MerchantConfig(admin_token=TOKEN, tls=tls, target=target)) as running:
        yield running


@pytest.fixture(scope="module")
def http(ca: tuple[Path, TlsFiles]) -> Iterator[httpx.Client]:
    with httpx.Client(verify=ssl.create_default_context(cafile=ca[0]), trust_env=False) as client:
        yield client


@pytest.fixture
def gateway(ca: tuple[Path, TlsFiles], world: Any) -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), KeyServer)
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(ca[1].cert_file, ca[1].key_file)
    server.socket = tls.wrap_socket(server.socket, server_side=True)
    KeyServer.keys = [world.keys["one"].jwk()]
    thread = Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    yield f"https://127.0.0.1:{server.server_address[1]}/jwks"
    server.shutdown()
    server.server_close()
    thread.join()


def test_a_whole_conversation_over_tls(
    process: MerchantProcess, http: httpx.Client, gateway: str, world: Any
) -> None:
    admin = process.admin
    admin.register_client("one")
    admin.set_jwks_uri("one", gateway)
    assertion = world.assertion(aud=process.endpoints.token_endpoint)
    form = {"grant_type": JWT_BEARER, "assertion": assertion}
    issued = http.post(process.endpoints.token_endpoint, data=form)
    assert issued.status_code == 200, issued.text
    token = issued.json()["access_token"]

    bearer = {"authorization": f"Bearer {token}"}
    orders = http.get(f"{process.endpoints.api_url}/orders", headers=bearer)
    assert orders.json()["orders"] == admin.orders(ALICE)
    state = admin.lookup(token)
    assert state is not None
    assert (state.login, state.client_id, state.active) == (ALICE, "one", True)
    assert state.actor == ("agent-1", "agent-0")
    assert {minted.value for minted in admin.tokens()} >= {token, issued.json()["refresh_token"]}
    assert admin.journal("one")[0].assertion == assertion
    assert [entry.endpoint for entry in admin.journal("one")] == ["token", "orders"]
    assert "date" in issued.headers


def test_reset_hang_and_client_giving_up_over_real_connections(
    process: MerchantProcess, http: httpx.Client, gateway: str, world: Any
) -> None:
    admin = process.admin
    admin.register_client("one", gateway)
    answers = ["reset", Answer(outcome="hang", seconds=600), "rotate_then_reset", {"outcome": "ok"}]
    admin.script("one", answers=answers)
    form = {"grant_type": JWT_BEARER, "assertion": world.assertion(aud=process.endpoints.token_endpoint)}
    url = process.endpoints.token_endpoint
    before = len(admin.tokens())
    with pytest.raises(httpx.TransportError):
        http.post(url, data=form)
    with pytest.raises(httpx.ReadTimeout):
        http.post(url, data=form, timeout=httpx.Timeout(20, read=0.2))
    assert len(admin.tokens()) == before
    with pytest.raises(httpx.TransportError):
        http.post(url, data=form)
    assert len(admin.tokens()) == before + 2
    assert http.post(url, data=form).status_code == 200
    assert admin.fired("one")["reset"] == 1


def test_gate_opens_when_all_have_arrived_or_by_hand(
    process: MerchantProcess, http: httpx.Client, gateway: str, world: Any
) -> None:
    admin = process.admin
    admin.register_client("one", gateway)
    held = Answer(outcome="hold", gate="all", parties=4, seconds=60)
    admin.script("one", login=ALICE, provisioning=held, answers=[Answer(outcome="hold", gate="hand")])
    form = {"grant_type": JWT_BEARER, "assertion": world.assertion(aud=process.endpoints.token_endpoint)}
    with ThreadPoolExecutor(4) as pool:
        first = pool.submit(http.post, process.endpoints.token_endpoint, data=form)
        for _ in range(2000):
            if admin.arrived("hand"):
                break
        assert not first.done()
        assert admin.release("hand") == 1
        assert first.result().status_code == 200
        racers = [pool.submit(http.post, process.endpoints.token_endpoint, data=form) for _ in range(4)]
        assert {racer.result().status_code for racer in racers} == {200}


def test_admin_goes_to_another_worker_by_pickle(process: MerchantProcess) -> None:
    twin = pickle.loads(pickle.dumps(process.admin))  # noqa: S301 - pickled a moment ago
    twin.add_user("dave", "dave@merchant.example", "a password")
    assert len(process.admin.orders("dave@merchant.example")) == 3
    assert TOKEN not in repr(twin)
    twin.close()


def test_admin_refuses_strangers_and_nonsense(process: MerchantProcess) -> None:
    stranger = MerchantAdmin(process.admin.url, "another token")
    with pytest.raises(MerchantAdminError, match="401"):
        stranger.tokens()
    stranger.close()
    admin = process.admin
    for call, message in (
        (lambda: admin.script("nobody"), "no client 'nobody'"),
        (lambda: admin.set_jwks_uri("nobody", "https://x.test"), "no client 'nobody'"),
        (lambda: admin._call("launch"), "unknown action"),
        (lambda: admin._call("release", gate="g", by="me"), "unexpected keyword"),
        (lambda: admin._call("tokens", after="x"), "whole number"),
        (lambda: admin.set_clock_offset("soon"), "seconds"),  # type: ignore[arg-type]
        (lambda: (admin.register_client("c"), admin.script("c", refesh="reject")), "did you mean"),
    ):
        with pytest.raises(MerchantAdminError, match=message):
            call()
    assert admin.lookup("unknown") is None
    assert admin.dropped() == {"journal": 0, "tokens": 0}


def test_public_port_does_not_serve_the_admin_api(process: MerchantProcess, http: httpx.Client) -> None:
    bearer = {"authorization": f"Bearer {TOKEN}"}
    assert http.post(f"{process.url}/tokens", json={}, headers=bearer).status_code == 404


def run(config: str, *options: str) -> subprocess.Popen[bytes]:
    running = subprocess.Popen(
        [sys.executable, "-m", "gateproof.fakes.merchant", *options],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert running.stdin
    running.stdin.write(config.encode() + b"\n")
    running.stdin.flush()
    return running


@pytest.mark.parametrize("how", ["end of stdin", "SIGTERM", "SIGINT"])
def test_it_ends_at_once_and_silently_even_while_a_call_hangs(how: str) -> None:
    running = run(MerchantConfig(admin_token=TOKEN, paths="usual").to_json())
    assert running.stdout
    announced = json.loads(running.stdout.readline())
    host, _, port = announced["url"].removeprefix("http://").partition(":")
    with socket.create_connection((host, int(port))) as idle:
        idle.sendall(b"POST /token HTTP/1.1\r\nhost: x\r\ncontent-length: 5\r\n\r\n")
        if how == "end of stdin":
            out, err = running.communicate(timeout=10)
        else:
            os.kill(running.pid, getattr(signal, how))
            assert running.wait(10) == 0
            out, err = running.communicate()
    assert (running.returncode, out, err) == (0, b"", b"")


@pytest.mark.parametrize(
    "config", ["{}", "", "nonsense", '{"admin_token": "' + TOKEN + '", "listen": "0.0.0.0:0"}']
)
def test_wrong_set_up_is_one_line_and_exit_2(config: str) -> None:
    running = run(config)
    out, err = running.communicate(timeout=20)
    assert (running.returncode, out) == (2, b"")
    assert err.startswith(b"fake merchant: ")
    assert err.count(b"\n") == 1


def test_taken_port_is_exit_98() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        listen = f"127.0.0.1:{taken.getsockname()[1]}"
        running = run(MerchantConfig(admin_token=TOKEN, listen=listen).to_json())
        _, err = running.communicate(timeout=20)
    assert running.returncode == 98
    assert listen.encode() in err


def test_failed_start_is_told_by_the_starter() -> None:
    with pytest.raises(MerchantStartError, match="loopback"):
        start(MerchantConfig(admin_token=TOKEN, listen="0.0.0.0:0"))


def test_verbose_log_holds_no_secret() -> None:
    running = run(MerchantConfig(admin_token=TOKEN, paths="usual").to_json(), "--verbose")
    assert running.stdout
    announced = json.loads(running.stdout.readline())
    admin = MerchantAdmin(announced["admin_url"], TOKEN)
    admin.register_client("one")
    places = announced["endpoints"]
    with httpx.Client(trust_env=False, follow_redirects=True) as browser:
        query = {
            "response_type": "code",
            "client_id": "one",
            "redirect_uri": places["api_url"],
            "scope": "openid",
        }
        page = browser.get(f"{places['authorization_endpoint']}?{urlencode(query)}")
        landed = _submit(browser, announced["url"], page)
        code = httpx.URL(landed).params["code"]
        form = {"grant_type": "authorization_code", "code": code, "redirect_uri": places["api_url"]}
        issued = browser.post(places["token_endpoint"], data=form).json()
        browser.get(
            f"{places['api_url']}/orders", headers={"authorization": f"Bearer {issued['access_token']}"}
        )
    secrets = [token.value for token in admin.tokens()]
    admin.close()
    _, err = running.communicate(timeout=10)
    log = err.decode()
    assert "token grant=authorization_code client=one" in log
    assert len(secrets) == 4
    for secret in [*secrets, TOKEN, "alice-likes-long-walks", ALICE]:
        assert secret not in log


def _submit(browser: httpx.Client, base: str, page: httpx.Response) -> str:
    form = LexborHTMLParser(page.text).css_first("form")
    inputs = {
        str(field.attributes["name"]): field.attributes.get("value") or ""
        for field in form.css("input")
        if field.attributes.get("name")
    }
    data = {**inputs, "username": ALICE, "password": "alice-likes-long-walks"}
    action = httpx.URL(base).join(str(form.attributes["action"]))
    return str(browser.post(action, data=data, follow_redirects=False).headers["location"])


def test_a_listener_can_be_switched_and_counts_connections(
    process: MerchantProcess, http: httpx.Client, gateway: str, world: Any
) -> None:
    admin = process.admin
    listener = admin.open_listener()
    admin.register_client("one", gateway, token_endpoint=listener)
    form = {"grant_type": JWT_BEARER, "assertion": world.assertion(aud=listener)}
    # A kept connection could be reused before the client notices that the listener is shut.
    alone = {"Connection": "close"}
    assert http.post(listener, data=form, headers=alone).status_code == 200
    assert admin.switch_listener(listener, "shut") == 1
    with pytest.raises(httpx.ConnectError, match="refused"):
        http.post(listener, data=form)
    assert admin.switch_listener(listener, "plain") == 0
    with pytest.raises(httpx.ConnectError, match=r"(?i)wrong.version"):
        http.post(listener, data=form)
    assert admin.switch_listener(listener, "open") == 1
    assert http.post(listener, data=form, headers=alone).status_code == 200
    with pytest.raises(MerchantAdminError, match="no state"):
        admin.switch_listener(listener, "shutt")
    admin.close_listener(listener)
    with pytest.raises(httpx.ConnectError, match="refused"):
        http.post(listener, data=form)
    with pytest.raises(MerchantAdminError, match="no such listener"):
        admin.switch_listener(listener, "open")


def test_a_listener_uses_a_configured_certificate(
    ca: tuple[Path, TlsFiles], http: httpx.Client, tmp_path: Path
) -> None:
    leaf = trustme.CA().issue_cert("127.0.0.1")
    leaf.private_key_pem.write_to_path(tmp_path / "key.pem")
    leaf.cert_chain_pems[0].write_to_path(tmp_path / "cert.pem")
    stranger = TlsFiles(cert_file=tmp_path / "cert.pem", key_file=tmp_path / "key.pem")
    with start(MerchantConfig(admin_token=TOKEN, tls=ca[1], certificates={"stranger": stranger})) as running:
        listener = running.admin.open_listener()
        running.admin.switch_listener(listener, "stranger")
        with pytest.raises(httpx.ConnectError, match=r"(?i)certificate"):
            http.post(listener)
        assert running.admin.switch_listener(listener, "open") == 1
        assert http.post(listener).status_code == 400


@pytest.mark.parametrize(("named", "status"), [("the target", 200), ("somebody else", 400)])
def test_headers_of_the_target_go_to_its_own_origins(
    ca: tuple[Path, TlsFiles], http: httpx.Client, gateway: str, world: Any, named: str, status: int
) -> None:
    """The key server answers nobody without the header."""
    own = gateway.removesuffix("/jwks") if named == "the target" else "https://127.0.0.1:1"
    target = TargetAccess(ca_file=ca[0], headers={"X-Staging": "1"}, origins=(own,))
    with start(MerchantConfig(admin_token=TOKEN, tls=ca[1], target=target)) as running:
        running.admin.register_client("one", jwks_uri=gateway)
        assertion = world.assertion(aud=running.endpoints.token_endpoint)
        form = {"grant_type": JWT_BEARER, "assertion": assertion}

        assert http.post(running.endpoints.token_endpoint, data=form).status_code == status
