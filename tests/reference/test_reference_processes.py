"""The reference gateway and service as processes of their own."""

from __future__ import annotations

import os
import signal
import socket
import ssl
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

import httpx
import pytest
import trustme

Start = Callable[..., "subprocess.Popen[str]"]
PATIENCE_S = 20


def free_ports(count: int) -> list[int]:
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [each.getsockname()[1] for each in sockets]
    for each in sockets:
        each.close()
    return ports


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    folder = tmp_path_factory.mktemp("tls")
    ca = trustme.CA()
    leaf = ca.issue_cert("127.0.0.1")
    files = {"ca": folder / "ca.pem", "cert": folder / "cert.pem", "key": folder / "key.pem"}
    ca.cert_pem.write_to_path(files["ca"])
    leaf.private_key_pem.write_to_path(files["key"])
    files["cert"].write_bytes(b"".join(blob.bytes() for blob in leaf.cert_chain_pems))
    return {name: str(path) for name, path in files.items()}


@pytest.fixture
def start() -> Iterator[Start]:
    running: list[subprocess.Popen[str]] = []

    def starting(
        *arguments: str, module: str = "gateproof.reference.gateway", **env: str
    ) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [sys.executable, "-m", module, *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, **env},
        )
        running.append(process)
        return process

    yield starting
    for process in running:
        if process.poll() is None:
            process.kill()
        process.wait(PATIENCE_S)
        for stream in (process.stdin, process.stdout, process.stderr):
            if stream is not None:
                stream.close()


def wait_until_it_answers(url: str, **client: Any) -> None:
    deadline = time.monotonic() + PATIENCE_S
    with httpx.Client(trust_env=False, **client) as asking:
        while True:
            try:
                asking.get(url)
            except httpx.TransportError:
                assert time.monotonic() < deadline, f"nothing answers at {url}"
                time.sleep(0.02)
            else:
                return


@pytest.mark.parametrize("ending", ["SIGTERM", "SIGINT", "stdin"])
def test_it_serves_over_tls_and_stops_quietly(start: Start, authority: dict[str, str], ending: str) -> None:
    base, core, control = free_ports(3)
    process = start(
        *("--base-url", f"https://127.0.0.1:{base}", "--core-url", f"https://127.0.0.1:{core}"),
        *("--control-url", f"http://127.0.0.1:{control}/control", "--exit-with-stdin"),
        *("--tls-cert", authority["cert"], "--tls-key", authority["key"]),
        GATEPROOF_CONTROL_TOKEN="the-control-token",
    )
    wait_until_it_answers(f"http://127.0.0.1:{control}/control")
    headers = {"authorization": "Bearer the-control-token"}
    described = httpx.post(
        f"http://127.0.0.1:{control}/control", json={"action": "describe"}, headers=headers, trust_env=False
    )
    with httpx.Client(verify=ssl.create_default_context(cafile=authority["ca"]), trust_env=False) as client:
        assert described.status_code == 200
        assert len(client.get(f"https://127.0.0.1:{core}/jwks").json()["keys"]) == 1
        # An idle connection and a half-sent request do not hold it up.
        half = socket.create_connection(("127.0.0.1", control))
        half.sendall(b"POST /control HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 10\r\n\r\n")
        if ending == "stdin":
            assert process.stdin is not None
            process.stdin.close()
        else:
            process.send_signal(getattr(signal, ending))
        assert process.wait(PATIENCE_S) == 0
        half.close()
    assert process.stdout is not None
    assert process.stderr is not None
    assert process.stderr.read() == ""
    assert "GET /jwks 200" in process.stdout.read()


def test_base_and_core_may_share_an_origin(start: Start) -> None:
    (port,) = free_ports(1)
    url = f"http://127.0.0.1:{port}"
    start("--base-url", f"{url}/gateway/", "--core-url", f"{url}/core")
    wait_until_it_answers(url)

    assert httpx.get(f"{url}/core/jwks", trust_env=False).status_code == 200
    assert httpx.post(f"{url}/gateway/api/register", json={}, trust_env=False).status_code == 400


def test_a_taken_port_is_one_line_and_its_own_exit_code(start: Start) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        url = f"http://127.0.0.1:{taken.getsockname()[1]}"
        process = start("--base-url", url, "--core-url", url)
        _, error = process.communicate(timeout=PATIENCE_S)

    assert process.returncode == 98
    assert error.startswith(f"reference gateway: cannot listen at {url.removeprefix('http://')}")
    assert error.count("\n") == 1


@pytest.mark.parametrize(
    ("url", "complaint"),
    [
        ("http://0.0.0.0:8000", "refusing to listen on 0.0.0.0"),
        ("http://gateway.example:8000", "refusing to listen on gateway.example"),
        ("http://127.0.0.1", "expected an address with a port"),
        ("ftp://127.0.0.1:8000", "expected an http or https address"),
        ("https://127.0.0.1:8000", "needs a certificate"),
    ],
)
def test_what_it_refuses_to_serve_is_one_line(start: Start, url: str, complaint: str) -> None:
    process = start("--base-url", url, "--core-url", url)
    _, error = process.communicate(timeout=PATIENCE_S)

    assert process.returncode == 2
    assert complaint in error
    assert error.count("\n") == 1


def test_the_service_is_set_up_by_its_environment(start: Start) -> None:
    (port,) = free_ports(1)
    url = f"http://127.0.0.1:{port}"
    process = start(
        "--exit-with-stdin",
        module="gateproof.reference.service",
        GATEPROOF_BASE_URL=url,
        GATEPROOF_AUTHORIZATION_SERVER=f"{url}/res_1",
        GATEPROOF_RESOURCE_INDICATOR="urn:x",
        GATEPROOF_PROXY_CLIENT_ID="proxy_1",
        GATEPROOF_PROXY_CLIENT_SECRET="proxy-secret",
        GATEPROOF_MERCHANT_API_URL=f"{url}/api",
        GATEPROOF_SERVICE_URL=url,
    )
    wait_until_it_answers(url)

    assert httpx.get(f"{url}/orders", trust_env=False).status_code == 401
    process.terminate()
    assert process.wait(PATIENCE_S) == 0


def test_a_service_that_is_told_too_little_says_so(start: Start) -> None:
    process = start(module="gateproof.reference.service", GATEPROOF_SERVICE_URL="")
    _, error = process.communicate(timeout=PATIENCE_S)

    assert process.returncode == 2
    assert error.startswith("reference service: not set: ")
    assert error.count("\n") == 1


SITES = ("gateproof.reference.gateway.console", "gateproof.reference.site", "gateproof.reference.playground")


@pytest.mark.parametrize("with_console", [False, True], ids=["bare", "with its Console"])
def test_a_gateway_without_a_console_loads_no_page_of_it(
    start: Start, authority: dict[str, str], with_console: bool
) -> None:
    base, console = free_ports(2)
    urls = ["--base-url", f"https://127.0.0.1:{base}", "--core-url", f"https://127.0.0.1:{base}"]
    urls += ["--console-url", f"https://127.0.0.1:{console}"] * with_console
    process = start(
        *urls,
        *("--tls-cert", authority["cert"], "--tls-key", authority["key"]),
        PYTHONPROFILEIMPORTTIME="1",
        GATEPROOF_OPERATOR_PASSWORD="a-password-that-is-long",
    )
    context = ssl.create_default_context(cafile=authority["ca"])
    wait_until_it_answers(f"https://127.0.0.1:{base}", verify=context)
    if with_console:
        page = httpx.get(f"https://127.0.0.1:{console}/sign-in", verify=context, trust_env=False)
        assert "<h1>Sign in</h1>" in page.text
    process.terminate()
    _, loaded = process.communicate(timeout=PATIENCE_S)
    assert "gateproof.reference.gateway.policies" in loaded
    assert [name for name in SITES if name in loaded] == (list(SITES[:2]) if with_console else [])
    assert "a-password-that-is-long" not in loaded


@pytest.mark.parametrize(
    ("url", "password", "complaint"),
    [
        ("http://127.0.0.1:{port}", "a-password-that-is-long", "its own https origin"),
        ("https://127.0.0.1:{port}/console", "a-password-that-is-long", "its own https origin"),
        ("https://127.0.0.1:{base}", "a-password-that-is-long", "its own https origin"),
        ("https://127.0.0.1:{port}", "short", "GATEPROOF_OPERATOR_PASSWORD"),
    ],
)
def test_a_console_needs_an_origin_and_a_password(
    start: Start, authority: dict[str, str], url: str, password: str, complaint: str
) -> None:
    base, port = free_ports(2)
    process = start(
        *("--base-url", f"https://127.0.0.1:{base}", "--core-url", f"https://127.0.0.1:{base}"),
        *("--tls-cert", authority["cert"], "--tls-key", authority["key"]),
        *("--console-url", url.format(base=base, port=port)),
        GATEPROOF_OPERATOR_PASSWORD=password,
    )
    _, error = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 2
    assert complaint in error
    assert error.count("\n") == 1


def test_a_playground_that_is_told_too_little_says_so(start: Start) -> None:
    process = start(module="gateproof.reference.playground", GATEPROOF_PLAYGROUND_URL="")
    _, error = process.communicate(timeout=PATIENCE_S)

    assert process.returncode == 2
    assert error.startswith("reference playground: not set: ")
    assert error.count("\n") == 1
