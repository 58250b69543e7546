"""Cookies: kept and sent as browsers do, loopback and ports included."""

import pytest

from gateproof.conformance.signin.cookies import Jar


class _Clock:
    now = 1_000_000.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return _Clock()


@pytest.fixture
def jar(clock):
    return Jar(clock)


@pytest.mark.parametrize(
    ("set_at", "header", "asked_at", "sent"),
    [
        ("https://gw.example/a/b", "s=1", "https://gw.example/a/c", "s=1"),
        ("https://gw.example/a/b", "s=1", "https://gw.example/other", None),
        ("https://gw.example/a/b", "s=1; Path=/", "https://gw.example/other", "s=1"),
        ("https://gw.example/", "s=1; Path=/log", "https://gw.example/login", None),
        ("https://gw.example/", "s=1; Path=/log", "https://gw.example/log/in", "s=1"),
        ("https://gw.example/", "s=1; Path=relative", "https://gw.example/x", "s=1"),
        ("https://gw.example/", "s=1", "https://sub.gw.example/", None),
        ("https://gw.example/", "s=1; Domain=.gw.example", "https://sub.gw.example/", "s=1"),
        ("https://sub.gw.example/", "s=1; Domain=gw.example", "https://gw.example/", "s=1"),
        ("https://gw.example/", "s=1; Domain=other.example", "https://other.example/", None),
        ("https://gw.example/", "s=1; Domain=sub.gw.example", "https://sub.gw.example/", None),
        ("https://gw.example/", "s=1; Domain=example", "https://gw.example/", None),
        ("https://gw.example/", "s=1; Secure", "http://gw.example/", None),
        ("http://gw.example/", "s=1; Secure", "https://gw.example/", None),
        ("http://127.0.0.1:8000/", "s=1; Secure", "http://127.0.0.1:8000/", "s=1"),
        ("http://localhost:8000/", "s=1; Secure; HttpOnly; SameSite=Lax", "http://localhost:9000/", "s=1"),
        ("https://127.0.0.1:8000/", "s=1", "https://127.0.0.1:9000/", "s=1"),
        ("https://127.0.0.1/", "s=1; Domain=127.0.0.1", "https://127.0.0.1/", "s=1"),
        ("https://127.0.0.1/", "s=1; Domain=0.0.1", "https://127.0.0.1/", None),
        ("https://[::1]:8000/", "s=1", "https://[::1]:9000/", "s=1"),
        ("https://gw.example/", "__Host-s=1; Secure; Path=/", "https://gw.example/", "__Host-s=1"),
        ("https://gw.example/", "__Host-s=1; Secure", "https://gw.example/", None),
        ("https://gw.example/", "__Host-s=1; Secure; Path=/; Domain=gw.example", "https://gw.example/", None),
        ("https://gw.example/", "__Secure-s=1", "https://gw.example/", None),
        ("https://gw.example/", 's="a=b, c"; Path=/', "https://gw.example/", 's="a=b, c"'),
        ("https://gw.example/", "; Path=/", "https://gw.example/", None),
    ],
)
def test_a_cookie_goes_where_it_belongs(jar, set_at, header, asked_at, sent):
    jar.store(set_at, [header])

    assert jar.header(asked_at) == sent


def test_cookies_end_when_they_say(jar, clock):
    url = "https://gw.example/"
    jar.store(
        url,
        [
            "a=1; Max-Age=10",
            "b=2; Expires=Wed, 21 Oct 2015 07:28:00 GMT; Max-Age=100",
            "c=3; Expires=Wed, 21-Oct-2099 07:28:00 GMT",
            "d=4; Expires=nonsense; Max-Age=x",
        ],
    )
    assert jar.header(url) == "a=1; b=2; c=3; d=4"
    clock.now += 11
    assert jar.header(url) == "b=2; c=3; d=4"
    jar.store(url, ["b=; Max-Age=0", "c=x; Expires=Thu, 01 Jan 1970 00:00:00 GMT", "d=5"])
    assert jar.header(url) == "d=5"


def test_longer_paths_come_first(jar):
    jar.store("https://gw.example/", ["a=1; Path=/", "b=2; Path=/x/y", "c=3; Path=/x"])

    assert jar.header("https://gw.example/x/y") == "b=2; c=3; a=1"
