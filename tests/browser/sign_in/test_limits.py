"""Nothing gets past the harness, and what is kept of a sign-in tells no more than it may."""

from __future__ import annotations

import json
import os
import signal
import socket
from contextlib import suppress
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from gateproof.conformance.run.gateway.browsing import KeptBrowser
from gateproof.conformance.signin.sign_in_result import SignInFailed
from gateproof.conformance.suite.claims import LeftOut
from gateproof.conformance.wire.client import RateLimited

Answer = tuple[int, dict[str, str], str]


def test_nothing_gets_past_the_harness(site: Any, serve: Any, harness: Any) -> None:
    other = serve()
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as heard:
        heard.bind(("127.0.0.1", 0))
        heard.setblocking(False)
        port = heard.getsockname()[1]
        at = other.origin
        site.pages[
            "/auth"
        ] = f"""<link rel=preconnect href={at}><link rel=dns-prefetch href=//tracker.example>
<link rel=prefetch href={at}/prefetch><link rel=stylesheet href={at}/css><img src={at}/img>
<script src={at}/js></script><iframe src={at}/frame></iframe><a href={at}/ping-me ping={at}/ping>go</a>
<script>
const quietly = (act) => {{ try {{ Promise.resolve(act()).catch(() => 0); }} catch {{}} }};
quietly(() => fetch('{at}/fetch', {{mode: 'no-cors'}}));
quietly(() => navigator.sendBeacon('{at}/beacon', 'x'));
quietly(() => new WebSocket('{at.replace("http", "ws")}/socket'));
quietly(() => new EventSource('{at}/events'));
quietly(() => new WebTransport('https://127.0.0.1:{port}/'));
quietly(() => navigator.serviceWorker.register('/worker'));
quietly(() => {{ const peer = new RTCPeerConnection({{iceServers: [{{urls: 'stun:127.0.0.1:{port}'}}]}});
  peer.createDataChannel('x');
  return peer.createOffer().then((offer) => peer.setLocalDescription(offer)); }});
document.body.append('loaded');
</script>"""
        landing = harness.sign_in(f"{site.origin}/auth")
        with pytest.raises(BlockingIOError):
            heard.recv(1)

    assert "loaded" in landing.excerpt
    assert other.asked == []
    assert {each.request.url.partition("/auth")[0] for each in harness.recorded} == {site.origin}


def test_cookies_stay_with_their_browser(site: Any, harness: Any) -> None:
    def page(asked: BaseHTTPRequestHandler, _: str) -> Answer:
        if "s=1" in (asked.headers["Cookie"] or ""):
            return 302, {"Location": f"{site.callback}?code=known"}, ""
        return 200, {"Set-Cookie": "s=1; HttpOnly"}, "<form><button>Continue</button></form>"

    site.pages["/auth"] = page
    kept = KeptBrowser(harness.way)

    first = kept.look(f"{site.origin}/auth", harness.user)
    second = kept.look(f"{site.origin}/auth", harness.user)
    stranger = KeptBrowser(harness.way).look(f"{site.origin}/auth", harness.user)

    assert (first.sent_to, second.sent_to, stranger.sent_to) == (None, f"{site.callback}?code=known", None)


FORM = """<!doctype html><form method=post action=/end><input type=hidden name=t value=1>
<button>Allow</button></form>"""
AS_JSON = """<!doctype html><main></main><script>
document.querySelector('main').innerHTML = '<button>Allow</button>';
document.querySelector('button').onclick = async () => { location.href = (await (await fetch('/end',
  {method: 'POST', headers: {'Content-Type': 'application/json'}, body: '{}'})).json()).to; };</script>"""


@pytest.mark.parametrize("bound", [True, False], ids=["bound to its browser", "bound to nothing"])
def test_form_is_handed_over_without_the_cookies(bound: bool, site: Any, harness: Any) -> None:
    def end(asked: BaseHTTPRequestHandler, body: str) -> Answer:
        assert (body, asked.headers["Origin"]) == ("t=1", site.origin)
        if bound and asked.headers["Cookie"] != "s=1":
            return 403, {}, "<p>no"
        return 303, {"Location": f"{site.callback}?code=c3"}, ""

    site.pages |= {"/auth": lambda *_: (200, {"Set-Cookie": "s=1; HttpOnly"}, FORM), "/end": end}
    at_home = harness.sign_in(f"{site.origin}/auth")

    handed = KeptBrowser(harness.way).act_in_other_browser(1, f"{site.origin}/auth", harness.user)

    assert at_home.redirected_to == f"{site.callback}?code=c3"
    assert handed is not None
    assert bool(handed.codes()) is not bound
    assert KeptBrowser(harness.way).act_in_other_browser(2, f"{site.origin}/auth", harness.user) is None


def test_form_is_handed_over_with_the_cookies_of_the_browser_that_takes_it(site: Any, harness: Any) -> None:
    def start(asked: BaseHTTPRequestHandler, _: str) -> Answer:
        return 200, {"Set-Cookie": f"s={asked.path[-1]}; HttpOnly"}, FORM

    def end(asked: BaseHTTPRequestHandler, _: str) -> Answer:
        return 303, {"Location": f"{site.callback}?code={asked.headers['Cookie']}"}, ""

    site.pages |= {"/auth1": start, "/auth2": start, "/end": end}
    other = KeptBrowser(harness.way)
    other.look(f"{site.origin}/auth2", harness.user)

    handed = KeptBrowser(harness.way).act_in_other_browser(1, f"{site.origin}/auth1", harness.user, to=other)

    assert handed is not None
    assert handed.codes() == ["s=2"]


def test_form_is_held_back_until_another_tab_has_been_opened(site: Any, harness: Any) -> None:
    def start(asked: BaseHTTPRequestHandler, _: str) -> Answer:
        known = asked.headers["Cookie"] or ""
        return 200, {"Set-Cookie": f"s={known[-1:]}{asked.path[-1]}; HttpOnly"}, FORM

    def end(asked: BaseHTTPRequestHandler, _: str) -> Answer:
        return 303, {"Location": f"{site.callback}?code={asked.headers['Cookie']}"}, ""

    site.pages |= {"/auth1": start, "/auth2": start, "/end": end}
    browser, tab = KeptBrowser(harness.way), KeptBrowser(harness.way)
    hosts = frozenset({urlsplit(site.origin).hostname or ""})

    def meanwhile() -> None:
        tab.copy_cookies(browser, hosts)
        tab.look(f"{site.origin}/auth2", harness.user)
        browser.copy_cookies(tab, hosts)

    sent = browser.call_before_act(1, f"{site.origin}/auth1", harness.user, meanwhile)

    assert sent is not None
    assert sent.codes() == ["s=12"]


def test_what_no_other_site_could_send_is_not_handed_over(site: Any, harness: Any) -> None:
    told = json.dumps({"to": f"{site.callback}?code=c4"})
    site.pages |= {"/auth": AS_JSON, "/end": lambda *_: (200, {"Content-Type": "application/json"}, told)}
    assert harness.sign_in(f"{site.origin}/auth").redirected_to == f"{site.callback}?code=c4"

    with pytest.raises(LeftOut, match="only a page of its own site can"):
        KeptBrowser(harness.way).act_in_other_browser(1, f"{site.origin}/auth", harness.user)


def test_trouble_on_the_way_is_told_as_it_is(site: Any, harness: Any) -> None:
    site.pages["/auth"] = lambda *_: (429, {"Retry-After": "100"}, "")
    with pytest.raises(RateLimited):
        harness.sign_in(f"{site.origin}/auth")

    site.pages["/auth"] = lambda *_: (0, {}, "")
    lost = harness.sign_in(f"{site.origin}/auth")
    assert "connection was" in lost.outcome()

    site.pages["/auth"] = lambda *_: (500, {}, "")
    assert harness.sign_in(f"{site.origin}/auth").status == 500


def test_browser_that_crashed_is_started_anew(site: Any, harness: Any) -> None:
    site.pages |= {"/auth": FORM, "/end": lambda *_: (303, {"Location": f"{site.callback}?code=c5"}, "")}
    harness.sign_in(f"{site.origin}/auth")
    for stat in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):
            words = stat.read_text()
            if f"spki-list={harness.way._chromium.seal.digest}" in words and "--type=" not in words:
                os.kill(int(stat.parent.name), signal.SIGKILL)

    landing = None
    for _ in range(20):
        with suppress(SignInFailed):
            landing = harness.sign_in(f"{site.origin}/auth")
            break

    assert landing is not None
    assert landing.redirected_to == f"{site.callback}?code=c5"


STUCK = """<!doctype html><style>body {{ font: 40px sans-serif; }} p::before {{ content: 'wonder'; }}</style>
<title>Stuck</title><p>{said}<fieldset disabled><input value="{typed}"></fieldset>
<img alt="{typed}" src="data:,">"""


def test_user_who_sticks_leaves_a_picture_without_what_was_typed(site: Any, harness: Any) -> None:
    said = ("Hello wonderland-42", "Hello something-42", "Hello (hidden)")
    for each in said:
        site.pages["/auth"] = STUCK.format(said=each, typed="wonderland-42" if "42" in each else "")
        landing = harness.sign_in(f"{site.origin}/auth")

        assert landing.outcome() == (
            "on a page (status 200, titled 'Stuck'): there is no form on the page, see pictures/x.png"
        )
    one, another, hidden = harness.pictures
    assert one.startswith(b"\x89PNG")
    # What is seen differs by the text alone, and by that only as far as it may be shown.
    assert one != another
    assert one == hidden


def test_secret_in_pieces_leaves_no_picture(site: Any, harness: Any) -> None:
    site.pages["/auth"] = STUCK.format(said="Hello <b>wonder</b><i>land-</i>42", typed="")

    landing = harness.sign_in(f"{site.origin}/auth")

    assert harness.pictures == []
    assert landing.picture == ""


@pytest.mark.parametrize(
    ("button", "why"),
    [
        (
            "<button disabled>Sign in</button>",
            "the form could not be filled in and sent by 'Sign in': it is disabled",
        ),
        ("<button type=button>Sign in</button>", "pressing 'Sign in' had no effect"),
    ],
    ids=["disabled", "without effect"],
)
def test_why_nothing_came_of_an_act_is_said(button: str, why: str, site: Any, harness: Any) -> None:
    site.pages["/auth"] = (
        f"<form><input name=user><input name=pw type=password>{button}</form><script>1</script>"
    )

    assert harness.sign_in(f"{site.origin}/auth").outcome() == f"{why}, see pictures/x.png"
