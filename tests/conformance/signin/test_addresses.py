"""Addresses: where a reference leads a browser, and what counts as the redirect URI."""

import pytest

from gateproof.conformance.signin.addresses import is_web, lands_on, resolve


@pytest.mark.parametrize(
    ("reference", "where"),
    [
        ("next?x=1#f", "https://gw.example/a/next?x=1#f"),
        ("/root", "https://gw.example/root"),
        ("?only=query", "https://gw.example/a/b?only=query"),
        ("../up", "https://gw.example/up"),
        ("//other.example/x", "https://other.example/x"),
        ("///other.example/x", "https://other.example/x"),
        ("\\\\other.example\\x", "https://other.example/x"),
        ("/\\other.example/x", "https://other.example/x"),
        ("https:\\\\gw.example\\@other.example", "https://gw.example/@other.example"),
        ("https:////other.example", "https://other.example"),
        (" \thttps://other.ex\nample/x ", "https://other.example/x"),
        ("https://agent.example/cb?state=%20a+b%2F~!*'()", "https://agent.example/cb?state=%20a+b%2F~!*'()"),
        ("https://agent.example/cb?q=a b\u00e9", "https://agent.example/cb?q=a%20b%C3%A9"),
        ("https://agent.example/cb?path=\\x", "https://agent.example/cb?path=\\x"),
        ("myapp:\\done", "myapp:\\done"),
        ("", "https://gw.example/a/b"),
    ],
)
def test_references_lead_where_they_lead_a_browser(reference, where):
    assert resolve("https://gw.example/a/b", reference) == where


@pytest.mark.parametrize(
    "url", ["https://[::1", "https://", "https://h:99999/", "https://h:x/", "javascript:x", "x"]
)
def test_what_cannot_be_fetched_is_not_the_web(url):
    assert not is_web(url)


CALLBACK = "https://agent.example/cb"


@pytest.mark.parametrize(
    "url",
    [
        "https://agent.example/cb",
        "https://agent.example/cb?code=1&state=2",
        "https://AGENT.example:443/cb?error=access_denied",
        "https://agent.example/cb?code=1#_",
    ],
)
def test_the_redirect_uri_may_be_extended(url):
    assert lands_on(CALLBACK, url)


@pytest.mark.parametrize(
    "url",
    [
        "http://agent.example/cb?code=1",
        "https://agent.example:8443/cb",
        "https://agent.example/cb/",
        "https://agent.example/CB",
        "https://agent.example/cb/more",
        "https://agent.example/x/../cb",
        "https://agent.example/%63b",
        "https://evil@agent.example/cb",
        "https://agent.example@evil.example/cb",
        "https://agent.example.evil.example/cb",
        "https://sub.agent.example/cb",
        "https://agent.example:99999/cb",
        "agent.example/cb",
    ],
)
def test_near_misses_are_not_the_redirect_uri(url):
    assert not lands_on(CALLBACK, url)


def test_a_registered_query_has_to_stay():
    registered = "https://agent.example/cb?tenant=7"

    assert lands_on(registered, "https://agent.example/cb?tenant=7&code=1")
    assert lands_on(registered, "https://agent.example/cb?code=1&tenant=7")
    assert not lands_on(registered, "https://agent.example/cb?code=1")
    assert not lands_on(registered, "https://agent.example/cb?tenant=70&code=1")


def test_an_empty_path_is_the_root():
    assert lands_on("https://agent.example", "https://agent.example/?code=1")
