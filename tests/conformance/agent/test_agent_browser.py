"""The browser that agents open is a command with one argument, and holds no secret."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from gateproof.conformance.kit.agent import browser_program
from gateproof.conformance.kit.agent.browser import NO_PAGE, BrowserCommand, Courier, is_this_machine

URL = "https://127.0.0.1:9/ask?state=a%20b&x='$(id)"


@pytest.fixture(params=["bash", "Python"])
def browser(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[BrowserCommand]:
    if request.param == "Python":
        monkeypatch.setattr(browser_program, "_bash", lambda: None)
    elif browser_program._bash() is None:
        pytest.skip("a bash that can do it: none for this system")
    with BrowserCommand(tmp_path) as command:
        yield command


def test_bash_is_used_on_linux() -> None:
    if not sys.platform.startswith("linux") or not Path("/bin/bash").exists():
        pytest.skip("a bash that can do it: none for this system")
    assert browser_program._bash() is not None


@pytest.mark.parametrize("said", ["exit 1", "exit 3"])
def test_bash_that_lacks_something_is_not_used(
    said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shell = tmp_path / "bash"
    shell.write_text(f"#!/bin/sh\n{said}\n")
    shell.chmod(0o700)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert browser_program._bash.__wrapped__() is None


def ran(browser: BrowserCommand, *arguments: str, **environment: str) -> int:
    command = [str(browser.path), *arguments]
    return subprocess.run(command, check=False, timeout=30, env=environment).returncode


def test_address_arrives_as_it_was_given(browser: BrowserCommand) -> None:
    came: list[str] = []
    browser.set_handler(lambda url, _: came.append(url) is None)

    assert ran(browser, URL) == 0
    assert came == [URL]


def test_whoever_comes_too_late_or_says_too_much_is_not_served(browser: BrowserCommand) -> None:
    came: list[str] = []
    browser.set_handler(lambda url, _: came.append(url) is None)
    assert ran(browser, URL, "--new-window") == 1
    browser.set_handler(None)
    assert ran(browser, URL) == 1
    assert came == []


def test_command_shows_no_secret(browser: BrowserCommand) -> None:
    text, place = browser.path.read_text(), browser.path.with_name("browser.harness")
    token = place.read_text().split()[1]
    assert token not in text
    assert place.stat().st_mode & 0o077 == 0


def test_environment_is_told_whole(browser: BrowserCommand) -> None:
    came: list[str] = []
    browser.set_handler(lambda _, environment: came.append(environment) is None)
    kept = {"KEPT": "two\nlines, =, and ü", "LONG": "x" * 100_000}

    assert ran(browser, URL, **kept) == 0
    assert all(f"{name}={value}" in came[0] for name, value in kept.items())


def test_environment_is_told_as_the_agent_gave_it(browser: BrowserCommand) -> None:
    came: list[str] = []
    browser.set_handler(lambda _, environment: came.append(environment) is None)
    odd = {
        b"RAW": b"\xff\xfe",
        b"token": b"t",
        b"port": b"1",
        b"code": b"1",
        b"BASH_ENV": b"/nowhere",
        b"EMPTY": b"",
    }

    assert subprocess.run([str(browser.path), URL], check=False, timeout=30, env=odd).returncode == 0
    told = set(map(os.fsencode, came[0].split("\n")))
    assert told >= {name + b"=" + value for name, value in odd.items()}


@pytest.mark.parametrize(
    "sent",
    [
        b"",
        b"token\0",
        b"token\x001\x000\0",
        b"token\0one\x000\0a\0",
        b"x\x001\x000\0a\0",
        b"token\x001\x00-1\0",
    ],
)
def test_call_that_is_not_whole_is_refused(sent: bytes, tmp_path: Path) -> None:
    came: list[str] = []
    with BrowserCommand(tmp_path) as browser:
        browser.set_handler(lambda url, _: came.append(url) is None)
        port, token = (tmp_path / "browser.harness").read_text().split()
        with socket.create_connection(("127.0.0.1", int(port)), 10) as connection:
            connection.sendall(sent.replace(b"token", token.encode()))
            connection.shutdown(socket.SHUT_WR)
            assert connection.recv(1) in {b"", b"1"}
    assert came == []


def test_webbrowser_of_python_opens_it(browser: BrowserCommand) -> None:
    came: list[str] = []
    browser.set_handler(lambda url, _: came.append(url) is None)
    program = "import sys, webbrowser; sys.exit(not webbrowser.open(sys.argv[1]))"
    done = subprocess.run(
        [sys.executable, "-c", program, URL], check=False, timeout=30, env={"BROWSER": str(browser.path)}
    )

    assert done.returncode == 0
    assert came == [URL]


def test_redirect_goes_to_this_machine_alone() -> None:
    over = threading.Event()
    courier = Courier(over)
    assert courier.bring("https://agent.example/callback?code=c") is None
    over.set()
    assert courier.bring("https://127.0.0.1:9/callback?code=c") is None


@pytest.mark.parametrize("name", ["127.0.0.2", "orders.agent.localhost", "localhost", "LocalHost"])
@pytest.mark.parametrize("said", [b"HTTP/1.1 204 No Content\r\n\r\n", b""], ids=["with a page", "without"])
def test_redirect_is_taken_by_whoever_reads_it_on_this_machine(name: str, said: bytes) -> None:
    host = name if name[0].isdecimal() else "127.0.0.1"
    came: list[bytes] = []
    with socket.create_server((host, 0)) as listening:

        def take() -> None:
            connection, _ = listening.accept()
            with connection:
                came.append(connection.recv(4096))
                connection.sendall(said)

        thread = threading.Thread(target=take)
        thread.start()
        port = listening.getsockname()[1]
        status = Courier(threading.Event()).bring(f"http://{name}:{port}/callback?code=c")
        thread.join(10.0)

    assert status == (204 if said else NO_PAGE)
    assert came[0].startswith(b"GET /callback?code=c ")
    assert f"Host: {name.lower()}:{port}".encode() in came[0]


def test_redirect_waits_for_who_listens_late() -> None:
    with socket.socket() as late:
        late.bind(("127.0.0.1", 0))
        port, came, courier = late.getsockname()[1], list[bytes](), Courier(threading.Event())

        def take() -> None:
            courier.wait(5.0, lambda: courier.returns_early)
            # The browser command returns meanwhile, and the agent listens a while later.
            courier.wait(4.0)
            late.listen()
            connection, _ = late.accept()
            with connection:
                came.append(connection.recv(4096))
                connection.sendall(b"HTTP/1.1 204 No Content\r\n\r\n")

        thread = threading.Thread(target=take)
        thread.start()
        assert courier.bring(f"http://127.0.0.1:{port}/callback?code=c") == 204
        thread.join(10.0)

    assert courier.returns_early
    assert came[0].startswith(b"GET /callback?code=c ")


def test_redirect_that_no_handshake_was_made_for_is_taken_by_nobody() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def hang_up() -> None:
            listening.accept()[0].close()

        thread = threading.Thread(target=hang_up)
        thread.start()
        port = listening.getsockname()[1]
        assert Courier(threading.Event()).bring(f"https://127.0.0.1:{port}/callback?code=c") is None
        thread.join(10.0)


@pytest.mark.parametrize(
    "host", ["agent.example", "localhost.example", "notlocalhost", "10.0.0.1", "::2", None]
)
def test_other_machines_are_not_here(host: str | None) -> None:
    assert not is_this_machine(host)


@pytest.mark.parametrize("url", ["https://127.0.0.1:undefined/cb?code=c", "http://[oops/cb?code=c"])
def test_nobody_is_at_an_address_that_is_none(url: str) -> None:
    assert Courier(threading.Event()).bring(url) is None
