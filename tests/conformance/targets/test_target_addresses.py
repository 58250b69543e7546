"""Addresses in a target file are absolute, and plain http stays on loopback."""

import pytest


@pytest.mark.parametrize(
    ("url", "part"),
    [
        ("127.0.0.1:8443", "absolute URL"),
        ("ftp://127.0.0.1", "absolute URL"),
        ("https://", "absolute URL"),
        ("http://gateway.example", "plain http is for loopback"),
        ("http://127.0.0.1.example", "plain http is for loopback"),
        ("https://gateway.example?x=s3cret", "without a query"),
        ("https://gateway.example/#x", "without a fragment"),
        ("https://user:s3cret@gateway.example", "user name or password"),
        ("https://gateway.example:99999", "invalid host or port"),
        ("https://gateway.example:0", "port 0"),
        ("https://gate way.example", "spaces"),
        ("https://[::1", "invalid host or port"),
        ("https://gateway.example\\\\@evil.example", "backslashes"),
        ("", "an empty string"),
    ],
)
def test_addresses_are_absolute_and_plain(complaint, texts, url, part):
    message = complaint(texts.gateway.replace("https://127.0.0.1:8443/", url))

    assert "[target] base_url" in message
    assert part in message


@pytest.mark.parametrize("host", ["127.0.0.1", "127.8.9.10", "[::1]", "localhost"])
def test_plain_http_is_allowed_on_loopback(read, texts, host):
    assert (
        read(texts.gateway.replace("https://127.0.0.1", f"http://{host}")).base_url == f"http://{host}:8443"
    )
