"""Users sign in through a real Chromium, on pages made by scripts, and nothing gets past the harness."""

from __future__ import annotations

import json
import os
import signal
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs

import pytest

pytest.importorskip("httpcore", reason="gateproof is not installed here; make browser runs these tests")

from conformance.claims import LeftOut
from conformance.parties import User
from conformance.run.browsing import KeptBrowser
from conformance.signin.chromium.finding import missing
from conformance.signin.chromium.sign_in import ChromiumSignIn
from conformance.signin.landing import Landing, SignInFailed, SignInRequest
from conformance.signin.picturing import Picturing
from conformance.target.model import Step
from conformance.wire.client import RateLimited, Wire
from conformance.wire.exchange import Exchange
from conformance.wire.place import Place
from conformance.wire.secret import Secret

if lacking := missing():
    pytest.skip(lacking, allow_module_level=True)

CALLBACK = "https://agent.example/callback"
ALICE = User(name="alice", login="alice@merchant.example", password=Secret("password", "wonderland-42"))
Answer = tuple[int, dict[str, str], str]


@dataclass
class Site:
    """A server on loopback: pages by their path, and what was asked of it."""

    origin: str
    pages: dict[str, str | Callable[[BaseHTTPRequestHandler, str], Answer]] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)


@pytest.fixture
def serve() -> Iterator[Callable[[], Site]]:
    opened: list[ThreadingHTTPServer] = []

    def begin() -> Site:
        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def answer(self) -> None:
                path = self.path.partition("?")[0]
                site.asked.append(f"{self.command} {self.path}")
                body = self.rfile.read(int(self.headers.get("Content-Length") or 0)).decode()
                page = site.pages.get(path, "")
                status, headers, text = (200, {}, page) if isinstance(page, str) else page(self, body)
                if not status:
                    self.close_connection = True
                    return
                self.send_response(status)
                said = {"Content-Type": "text/html; charset=utf-8", **headers}
                said["Content-Length"] = str(len(text.encode()))
                for name, value in said.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(text.encode())

            do_GET = do_POST = answer  # noqa: N815 - the names are the base's

            def log_message(self, *_: object) -> None:
                pass

        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        server.daemon_threads = True
        site = Site(origin=f"http://127.0.0.1:{server.server_port}")
        threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
        opened.append(server)
        return site

    yield begin
    for server in opened:
        server.shutdown()
        server.server_close()


@pytest.fixture
def site(serve: Callable[[], Site]) -> Site:
    return serve()


@dataclass
class Harness:
    """The way to sign in, with the wire below it, and what it kept."""

    way: ChromiumSignIn
    recorded: list[Exchange]
    pictures: list[bytes]

    def sign_in(self, url: str, *, approve: bool = True) -> Landing:
        return self.way.sign_in(request(url, approve=approve))


def request(url: str, *, approve: bool = True) -> SignInRequest:
    return SignInRequest(authorization_url=url, redirect_uri=CALLBACK, user=ALICE, approve=approve)


@pytest.fixture(scope="module")
def reachable() -> set[str]:
    """The origins that the run at hand may talk to."""
    return set()


@pytest.fixture(scope="module")
def one_chromium(reachable: set[str]) -> Iterator[Harness]:
    """Starting Chromium takes longer than any sign-in, and tests share no more than the program."""
    recorded: list[Exchange] = []
    pictures: list[bytes] = []
    places: dict[frozenset[str], Wire] = {}

    def wire() -> Wire:
        origins = frozenset(reachable)
        if origins not in places:
            place = Place(origins=origins)
            places[origins] = Wire((place,), timeout_s=10, record=recorded.append, sleep=lambda _: None)
        return places[origins]

    def keep(drawn: bytes) -> str:
        pictures.append(drawn)
        return "pictures/x.png"

    hidden = ALICE.password.reveal()
    picturing = Picturing(
        redact=lambda text: text.replace(hidden, "(hidden)"), tells=lambda text: hidden in text, keep=keep
    )
    way = ChromiumSignIn(
        send=lambda asked: wire().send("browser", asked),
        may_visit=lambda url: wire().may_reach(url),
        steps=(Step(url_contains="/hinted", fill={"who": "{name}"}, press="Weiter"),),
        picturing=picturing,
    )
    yield Harness(way=way, recorded=recorded, pictures=pictures)
    way.close()
    for each in places.values():
        each.close()


@pytest.fixture
def harness(one_chromium: Harness, reachable: set[str], site: Site) -> Harness:
    reachable.clear()
    reachable.add(site.origin)
    one_chromium.recorded.clear()
    one_chromium.pictures.clear()
    return one_chromium


BY_SCRIPT = """<title>Sign in</title><main></main><script>
const main = document.querySelector('main');
const show = (html) => setTimeout(() => { main.innerHTML = html; }, 80);
const send = (path, body) => fetch(path, {method: 'POST', body: new URLSearchParams(body)})
  .then((answer) => answer.json());
const value = (name) => document.querySelector(`[name=${name}]`).value;
const steps = {
  async next() { await send('/who', {login: value('login')});
    show(`<input type=password name=pw aria-label="Password" oninput="go.disabled = !this.value">
      <button type=button aria-label="Show"></button>
      <button id=go disabled onclick="steps.enter()">Sign in</button>`); },
  async enter() { await send('/enter', {pw: value('pw')});
    show(`<label><input type=checkbox required name=sure style="opacity: 0"> I know</label>
      <button onclick="steps.end('no')">No, thanks</button>
      <button onclick="steps.end('yes')">Allow access</button>`); },
  async end(said) { location.href = (await send('/end', {said})).to; },
};
show(`<label>E-mail <input name=login type=email></label><input type=password style="display: none">
  <button onclick="steps.next()">Next</button>`);
</script>"""


def by_script(site: Site, fragment: str = "") -> dict[str, str]:
    """A sign-in that is one page for the server; what the user said is kept."""
    said: dict[str, str] = {}

    def take(_: BaseHTTPRequestHandler, body: str) -> Answer:
        said.update({name: values[0] for name, values in parse_qs(body).items()})
        end = "code=c1" if said.get("said") == "yes" else "error=access_denied"
        return 200, {"Content-Type": "application/json"}, json.dumps({"to": f"{CALLBACK}?{end}{fragment}"})

    site.pages |= {"/auth": BY_SCRIPT, "/who": take, "/enter": take, "/end": take}
    return said


def test_pages_made_by_script_are_filled_in_and_pressed(site: Site, harness: Harness) -> None:
    said = by_script(site, "#_=_")

    landing = harness.sign_in(f"{site.origin}/auth?state=1")

    assert landing.redirected_to == f"{CALLBACK}?code=c1#_=_", landing.outcome()
    assert said == {"login": ALICE.login, "pw": ALICE.password.reveal(), "said": "yes"}
    assert (landing.acts, landing.declined) == (3, False)
    assert set(landing.acted_on) == {f"{site.origin}/auth"}
    # Every octet came over the wire, and each request once.
    assert [
        f"{each.request.method} {each.request.url.removeprefix(site.origin)}" for each in harness.recorded
    ] == [
        "GET /auth?state=1",
        "POST /who",
        "POST /enter",
        "POST /end",
    ]
    assert site.asked == [
        f"{each.request.method} {each.request.url.removeprefix(site.origin)}" for each in harness.recorded
    ]


def test_user_who_declines_presses_no(site: Site, harness: Harness) -> None:
    said = by_script(site)

    landing = harness.sign_in(f"{site.origin}/auth", approve=False)

    assert landing.redirected_to == f"{CALLBACK}?error=access_denied"
    assert (said["said"], landing.declined) == ("no", True)


ELSEWHERE = {
    "web component": """<x-form></x-form><script>
customElements.define('x-form', class extends HTMLElement { connectedCallback() {
  this.attachShadow({mode: 'open'}).innerHTML = `<form action=/done method=post>
    <input name=user><input name=pw type=password><button>Log in</button></form>`; } });</script>""",
    "frame": "<title>Portal</title><iframe src=/inner width=600 height=400></iframe>",
    "no script": """<form action=/done method=post><input name=user><input type=password name=pw>
<input type=submit value=Go></form>""",
    "without a button": """<script>1</script><form action=/done method=post onsubmit="this.user.value = said">
<input type=hidden name=user><input type=password name=pw></form>
<script>said = 'alice' + '@merchant.example'</script>""",
    "question in a box": """<form action=/done method=post onsubmit="return confirm('Sure?')">
<input name=user><input type=password name=pw><button>Sign in</button></form>""",
    "window of its own": """<button onclick="window.open('/inner', 'x', 'width=500')">Sign in</button>""",
    "by a hint": """<script>location.href = '/hinted'</script>""",
}


@pytest.mark.parametrize("kind", ELSEWHERE)
def test_forms_are_found_wherever_users_see_them(kind: str, site: Site, harness: Harness) -> None:
    done: list[dict[str, list[str]]] = []

    def take(_: BaseHTTPRequestHandler, body: str) -> Answer:
        done.append(parse_qs(body))
        return 303, {"Location": f"{CALLBACK}?code=c2"}, ""

    site.pages |= {
        "/auth": f"<!doctype html>{ELSEWHERE[kind]}",
        "/inner": f"<!doctype html>{ELSEWHERE['no script'].replace('<form', '<form target=_top')}",
        "/hinted": "<input name=who><button type=button>Zurück</button>"
        "<button type=button onclick=\"location.href='/done'\">Weiter</button>",
        "/done": take,
    }

    landing = harness.sign_in(f"{site.origin}/auth")

    assert landing.redirected_to == f"{CALLBACK}?code=c2", landing.outcome()
    if kind != "by a hint":
        assert done == [{"user": [ALICE.login], "pw": [ALICE.password.reveal()]}]


def test_nothing_gets_past_the_harness(site: Site, serve: Callable[[], Site], harness: Harness) -> None:
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


def test_cookies_stay_with_their_browser(site: Site, harness: Harness) -> None:
    def page(asked: BaseHTTPRequestHandler, _: str) -> Answer:
        if "s=1" in (asked.headers["Cookie"] or ""):
            return 302, {"Location": f"{CALLBACK}?code=known"}, ""
        return 200, {"Set-Cookie": "s=1; HttpOnly"}, "<form><button>Continue</button></form>"

    site.pages["/auth"] = page
    kept = KeptBrowser(harness.way)

    first = kept.look(f"{site.origin}/auth", ALICE)
    second = kept.look(f"{site.origin}/auth", ALICE)
    stranger = KeptBrowser(harness.way).look(f"{site.origin}/auth", ALICE)

    assert (first.sent_to, second.sent_to, stranger.sent_to) == (None, f"{CALLBACK}?code=known", None)


FORM = """<!doctype html><form method=post action=/end><input type=hidden name=t value=1>
<button>Allow</button></form>"""
AS_JSON = """<!doctype html><main></main><script>
document.querySelector('main').innerHTML = '<button>Allow</button>';
document.querySelector('button').onclick = async () => { location.href = (await (await fetch('/end',
  {method: 'POST', headers: {'Content-Type': 'application/json'}, body: '{}'})).json()).to; };</script>"""


@pytest.mark.parametrize("bound", [True, False], ids=["bound to its browser", "bound to nothing"])
def test_form_is_handed_over_without_the_cookies(bound: bool, site: Site, harness: Harness) -> None:
    def end(asked: BaseHTTPRequestHandler, body: str) -> Answer:
        assert (body, asked.headers["Origin"]) == ("t=1", site.origin)
        if bound and asked.headers["Cookie"] != "s=1":
            return 403, {}, "<p>no"
        return 303, {"Location": f"{CALLBACK}?code=c3"}, ""

    site.pages |= {"/auth": lambda *_: (200, {"Set-Cookie": "s=1; HttpOnly"}, FORM), "/end": end}
    at_home = harness.sign_in(f"{site.origin}/auth")

    handed = KeptBrowser(harness.way).hand_over(1, f"{site.origin}/auth", ALICE)

    assert at_home.redirected_to == f"{CALLBACK}?code=c3"
    assert handed is not None
    assert bool(handed.codes()) is not bound
    assert KeptBrowser(harness.way).hand_over(2, f"{site.origin}/auth", ALICE) is None


def test_what_no_other_site_could_send_is_not_handed_over(site: Site, harness: Harness) -> None:
    told = json.dumps({"to": f"{CALLBACK}?code=c4"})
    site.pages |= {"/auth": AS_JSON, "/end": lambda *_: (200, {"Content-Type": "application/json"}, told)}
    assert harness.sign_in(f"{site.origin}/auth").redirected_to == f"{CALLBACK}?code=c4"

    with pytest.raises(LeftOut, match="only a page of its own site can"):
        KeptBrowser(harness.way).hand_over(1, f"{site.origin}/auth", ALICE)


def test_trouble_on_the_way_is_told_as_it_is(site: Site, harness: Harness) -> None:
    site.pages["/auth"] = lambda *_: (429, {"Retry-After": "100"}, "")
    with pytest.raises(RateLimited):
        harness.sign_in(f"{site.origin}/auth")

    site.pages["/auth"] = lambda *_: (0, {}, "")
    lost = harness.sign_in(f"{site.origin}/auth")
    assert "connection was" in lost.outcome()

    site.pages["/auth"] = lambda *_: (500, {}, "")
    assert harness.sign_in(f"{site.origin}/auth").status == 500


def test_browser_that_crashed_is_started_anew(site: Site, harness: Harness) -> None:
    site.pages |= {"/auth": FORM, "/end": lambda *_: (303, {"Location": f"{CALLBACK}?code=c5"}, "")}
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
    assert landing.redirected_to == f"{CALLBACK}?code=c5"


STUCK = """<!doctype html><style>body {{ font: 40px sans-serif; }} p::before {{ content: 'wonder'; }}</style>
<title>Stuck</title><p>{said}<fieldset disabled><input value="{typed}"></fieldset>
<img alt="{typed}" src="data:,">"""


def test_user_who_sticks_leaves_a_picture_without_what_was_typed(site: Site, harness: Harness) -> None:
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


def test_secret_in_pieces_leaves_no_picture(site: Site, harness: Harness) -> None:
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
        ("<button type=button>Sign in</button>", "nothing came of pressing 'Sign in'"),
    ],
    ids=["disabled", "without effect"],
)
def test_why_nothing_came_of_an_act_is_said(button: str, why: str, site: Site, harness: Harness) -> None:
    site.pages["/auth"] = (
        f"<form><input name=user><input name=pw type=password>{button}</form><script>1</script>"
    )

    assert harness.sign_in(f"{site.origin}/auth").outcome() == f"{why}, see pictures/x.png"
