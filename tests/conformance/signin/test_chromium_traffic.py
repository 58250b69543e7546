"""What a real browser asks for, as the harness lets it out; here somebody plays the browser."""

from __future__ import annotations

import http.client
import ssl
from collections.abc import Callable, Iterator

import pytest

from gateproof.conformance.signin.chromium.proxy import Proxy
from gateproof.conformance.signin.chromium.seal import new_proxy_certificate
from gateproof.conformance.signin.chromium.traffic import Traffic, address_of
from gateproof.conformance.wire.client import RateLimited
from gateproof.conformance.wire.exchange import Answer, Exchange, Request

GATEWAY = "https://gateway.test"
PAGE = (("Sec-Fetch-Dest", "document"), ("Sec-Fetch-Mode", "navigate"))
SCRIPT = (("Sec-Fetch-Dest", "empty"), ("Sec-Fetch-Mode", "cors"))
Headers = tuple[tuple[str, str], ...]


class Wire:
    """Answers what it is told to, and keeps what was sent."""

    def __init__(self) -> None:
        self.sent: list[Request] = []
        self.answers: dict[str, Answer | Exception] = {}

    def __call__(self, request: Request, /) -> Exchange:
        self.sent.append(request)
        answer = self.answers.get(request.url)
        if isinstance(answer, Exception):
            raise answer
        failure = "the connection was reset" if answer is None else None
        return Exchange(step="browser", request=request, answer=answer, failure=failure)


@pytest.fixture
def wire() -> Wire:
    return Wire()


@pytest.fixture
def traffic(wire: Wire) -> Traffic:
    found = Traffic(wire, lambda url: url.startswith(GATEWAY))
    found.begin()
    return found


def get(url: str, headers: Headers = PAGE, method: str = "GET") -> Request:
    return Request(method=method, url=url, headers=headers)


def redirect(location: str) -> Answer:
    return Answer(status=303, headers=(("Location", location),))


def test_what_is_beyond_reach_is_never_sent(wire: Wire, traffic: Traffic) -> None:
    for headers in (PAGE, SCRIPT):
        answer = traffic.answer(get("https://tracker.example/?secret", headers))
        assert answer is not None
        assert answer.status == 403

    assert wire.sent == []
    assert traffic.hops == []


def test_redirect_beyond_reach_is_the_end_with_what_stands_behind_its_hash(
    wire: Wire, traffic: Traffic
) -> None:
    wire.answers[f"{GATEWAY}/a"] = redirect("/b#kept")
    wire.answers[f"{GATEWAY}/b"] = redirect("https://agent.example/callback?code=1")

    for url in (f"{GATEWAY}/a", f"{GATEWAY}/b"):
        traffic.answer(get(url))
    answer = traffic.answer(get("https://agent.example/callback?code=1"))

    assert answer is not None
    assert answer.status == 204
    assert traffic.away == "https://agent.example/callback?code=1#kept"
    assert traffic.hops == [f"{GATEWAY}/a", f"{GATEWAY}/b"]


def test_redirect_to_another_program_is_the_end(wire: Wire, traffic: Traffic) -> None:
    wire.answers[f"{GATEWAY}/a"] = redirect("agent.app:/callback?code=1")

    traffic.answer(get(f"{GATEWAY}/a"))

    assert traffic.away == "agent.app:/callback?code=1"


def test_page_that_goes_there_by_script_is_asked_itself_for_the_address(traffic: Traffic) -> None:
    answer = traffic.answer(get("https://agent.example/callback?code=1"))

    assert answer is not None
    assert (answer.status, traffic.away) == (403, None)


def test_nobody_waits_for_an_icon(wire: Wire, traffic: Traffic) -> None:
    answer = traffic.answer(get(f"{GATEWAY}/favicon.ico", SCRIPT))

    assert answer is not None
    assert answer.status == 404
    assert wire.sent == []


def test_page_without_an_answer_says_why_and_a_picture_without_one_does_not(traffic: Traffic) -> None:
    assert traffic.answer(get(f"{GATEWAY}/picture", SCRIPT)) is None
    assert traffic.lost is None

    assert traffic.answer(get(f"{GATEWAY}/page")) is None
    assert traffic.lost == "the connection was reset"


def test_trouble_on_the_wire_is_kept_for_whoever_waits(wire: Wire, traffic: Traffic) -> None:
    wire.answers[f"{GATEWAY}/a"] = trouble = RateLimited("still status 429")

    assert traffic.answer(get(f"{GATEWAY}/a")) is None

    assert traffic.trouble is trouble
    assert not traffic.is_loading()


def test_nothing_goes_out_once_the_visit_is_over(wire: Wire, traffic: Traffic) -> None:
    traffic.end()

    assert traffic.answer(get(f"{GATEWAY}/poll", SCRIPT)) is None
    assert wire.sent == []


FORM = ("Content-Type", "application/x-www-form-urlencoded;charset=UTF-8")


@pytest.mark.parametrize(
    ("request_", "same_site_only"),
    [
        (get("/a", (*PAGE, FORM), "POST"), False),
        (get("/a", (*SCRIPT, FORM, ("Accept", "application/json")), "POST"), False),
        (get("/a", (*SCRIPT, ("Authorization", "x"))), False),
        (get("/a", (*SCRIPT, ("Content-Type", "application/json")), "POST"), True),
        (get("/a", (*SCRIPT, FORM, ("X-Csrf-Token", "x")), "POST"), True),
        (get("/a", SCRIPT, "PUT"), True),
    ],
    ids=["a form", "a form by script", "reading", "JSON", "a header of its own", "PUT"],
)
def test_what_only_a_page_of_the_site_itself_can_send_is_told_apart(
    traffic: Traffic, request_: Request, same_site_only: bool
) -> None:
    request = Request(method=request_.method, url=f"{GATEWAY}/a", headers=request_.headers)
    traffic.answer(request)
    assert traffic.same_site_only is None

    traffic.watched = True
    traffic.answer(request)

    assert (traffic.same_site_only is not None) is same_site_only


@pytest.mark.parametrize(
    ("scheme", "place", "target", "address"),
    [
        ("https", "a.test:443", "/x?y", "https://a.test/x?y"),
        ("https", "a.test:8443", "/", "https://a.test:8443/"),
        ("https", "[::1]:8443", "/", "https://[::1]:8443/"),
        ("http", "a.test", "http://a.test/x", "http://a.test/x"),
    ],
)
def test_addresses_are_written_as_the_address_bar_has_them(
    scheme: str, place: str, target: str, address: str
) -> None:
    assert address_of(scheme, place, target) == address


@pytest.fixture
def through(traffic: Traffic) -> Iterator[Callable[..., http.client.HTTPConnection]]:
    """A connection that goes by the proxy, in plain or by TLS, as browsers open it."""
    proxy = Proxy(traffic, new_proxy_certificate())
    port = int(proxy.address.rpartition(":")[2])
    opened: list[http.client.HTTPConnection] = []

    def connect(host: str = "") -> http.client.HTTPConnection:
        if host:
            trusting = ssl.create_default_context()
            trusting.check_hostname, trusting.verify_mode = False, ssl.CERT_NONE
            line = http.client.HTTPSConnection("127.0.0.1", port, context=trusting, timeout=10)
            line.set_tunnel(host, 443)
            opened.append(line)
        else:
            opened.append(http.client.HTTPConnection("127.0.0.1", port, timeout=10))
        return opened[-1]

    yield connect
    for line in opened:
        line.close()
    proxy.close()


def test_requests_come_through_a_tunnel_one_after_the_other(
    wire: Wire, through: Callable[..., http.client.HTTPConnection]
) -> None:
    headers = (("Set-Cookie", "a=1"), ("Set-Cookie", "b=2"), ("Content-Encoding", "gzip"))
    wire.answers[f"{GATEWAY}/page?x=1"] = Answer(status=200, headers=headers, body=b"<p>hello")
    wire.answers[f"{GATEWAY}/send"] = Answer(status=204)
    line = through("gateway.test")

    line.request("GET", "/page?x=1", headers={"Cookie": "s=1", "Accept-Encoding": "br", **dict(PAGE)})
    page = line.getresponse()
    body = page.read()
    line.request("POST", "/send", body=b"a=1", headers=dict(PAGE))
    sent = line.getresponse()
    sent.read()

    assert (page.status, body, sent.status) == (200, b"<p>hello", 204)
    assert page.headers.get_all("Set-Cookie") == ["a=1", "b=2"]
    # The wire has undone the compression, and asks for none that it could not undo.
    assert page.headers["Content-Encoding"] is None
    first, second = wire.sent
    names = {name.lower() for name, _ in first.headers}
    assert ("Cookie", "s=1") in first.headers
    assert not names & {"accept-encoding", "connection", "host", "proxy-connection"}
    assert (second.method, second.url, second.body) == ("POST", f"{GATEWAY}/send", b"a=1")


def test_plain_addresses_come_whole(wire: Wire, through: Callable[..., http.client.HTTPConnection]) -> None:
    line = through()

    line.request("GET", "http://elsewhere.test/x", headers=dict(PAGE))

    assert line.getresponse().status == 403
    assert wire.sent == []


@pytest.mark.parametrize(
    "headers",
    [{"Upgrade": "websocket", "Connection": "Upgrade"}, {"Accept": "text/event-stream"}],
    ids=["web socket", "event stream"],
)
def test_lines_that_stay_open_are_not_offered(
    wire: Wire, through: Callable[..., http.client.HTTPConnection], headers: dict[str, str]
) -> None:
    line = through("gateway.test")

    line.request("GET", "/line", headers=headers)

    with pytest.raises(http.client.RemoteDisconnected):
        line.getresponse()
    assert wire.sent == []


def test_a_redirect_is_loading_until_the_browser_has_followed_it(wire: Wire, traffic: Traffic) -> None:
    wire.answers = {f"{GATEWAY}/done": redirect("https://agent.test/callback?code=c")}

    traffic.answer(get(f"{GATEWAY}/done", method="POST"))
    between = traffic.is_loading()
    traffic.answer(get("https://agent.test/callback?code=c"))

    assert (between, traffic.is_loading()) == (True, False)
    assert traffic.away == "https://agent.test/callback?code=c"
