"""Sec-Fetch headers, as browsers send them."""

import pytest

from gateproof.conformance.signin.fetch_metadata import fetch_metadata

GATEWAY, CORE, MERCHANT = "https://127.0.0.1:8443/a", "https://127.0.0.1:8444/b", "https://merchant.example/c"


@pytest.mark.parametrize(
    ("url", "source", "visited", "site"),
    [
        (GATEWAY, None, [], "none"),
        (GATEWAY, None, [MERCHANT], "none"),
        (GATEWAY, GATEWAY, [], "same-origin"),
        (CORE, GATEWAY, [], "same-site"),
        (MERCHANT, GATEWAY, [], "cross-site"),
        (GATEWAY, GATEWAY, [MERCHANT], "cross-site"),
        ("https://id.merchant.example/", MERCHANT, [], "same-site"),
        ("https://id.shop.example/", "https://www.shop.example/", [], "same-site"),
        ("http://127.0.0.1:8443/a", GATEWAY, [], "cross-site"),
        ("http://a.localhost:1/", "http://b.localhost:1/", [], "cross-site"),
    ],
)
def test_the_relation_is_that_of_the_most_distant_url(url, source, visited, site):
    assert fetch_metadata(url, source, visited)[0] == ("Sec-Fetch-Site", site)


def test_plain_http_elsewhere_gets_no_such_header():
    assert fetch_metadata("http://merchant.example/", None, []) == []
