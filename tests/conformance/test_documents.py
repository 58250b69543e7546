"""Two spellings of one URL are one URL, and two URLs that look alike are two."""

from __future__ import annotations

import pytest

from gateproof.conformance.wire.documents import in_any_order, same_url

URL = "https://API.merchant.example:443/v1/./%7Eorders"


@pytest.mark.parametrize(
    "other",
    [
        URL,
        "https://api.merchant.example/v1/~orders",
        "HTTPS://api.merchant.example/v1/x/../~orders",
        "https://api.merchant.example/v1/%7eorders",
    ],
)
def test_spellings_are_the_same(other: str) -> None:
    assert same_url(other, URL)


@pytest.mark.parametrize(
    "other",
    [
        "http://api.merchant.example/v1/~orders",
        "https://api.merchant.example:8443/v1/~orders",
        "https://api.merchant.example/V1/~orders",
        "https://api.merchant.example/v1/~orders/",
        "https://api.merchant.example/v1//~orders",
        "https://api.merchant.example/~orders",
        "https://api.merchant.example/v1/~orders?all",
        "https://api.merchant.example.evil.example/v1/~orders",
        "",
        None,
    ],
)
def test_others_are_others(other: object) -> None:
    assert not same_url(other, URL)


def test_no_path_is_the_path_of_a_slash() -> None:
    assert same_url("https://api.merchant.example", "https://api.merchant.example/")


def test_what_climbs_above_the_top_stays_there() -> None:
    assert same_url("https://api.merchant.example/../../a", "https://api.merchant.example/a")


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        (["a", "b"], ["b", "a"], True),
        (["a", "b"], ["a"], False),
        (["a", "a", "b"], ["a", "b", "b"], False),
        ([1, "a"], ["a", 1], False),
        ("ab", "ba", False),
        (None, [], False),
    ],
)
def test_order_means_nothing_among_strings_alone(one: object, other: object, same: bool) -> None:
    assert (in_any_order(one) == in_any_order(other)) is same
