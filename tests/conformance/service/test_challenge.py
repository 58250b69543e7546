"""WWW-Authenticate is read by its grammar, and no further than it can be read."""

from __future__ import annotations

import pytest

from gateproof.conformance.checks.service import _pointers
from gateproof.conformance.kit.service.challenge import Challenge, challenges

URL = "https://orders.example/.well-known/oauth-protected-resource"


@pytest.mark.parametrize(
    "value",
    [
        f'Bearer resource_metadata="{URL}"',
        f"Bearer resource_metadata={URL}",
        f'bearer   resource_metadata = "{URL}"',
        f'Bearer realm="orders", error="invalid_token",resource_metadata="{URL}"',
        f'Basic realm="a, b", Bearer resource_metadata="{URL}"',
        f'Bearer error_description="say \\"please\\", then go", resource_metadata="{URL}"',
        f'Negotiate YWJj==, Bearer scope="a b", RESOURCE_METADATA="{URL}"',
        f', ,Bearer resource_metadata="{URL}", DPoP algs="ES256"',
        f'Bearer error_description="unexpected "aud" claim value", resource_metadata="{URL}"',
        f'Bearer error_description="unexpected "aud" claim", resource_metadata={URL}, scope="a"',
    ],
)
def test_pointer_is_found_wherever_it_stands(value: str) -> None:
    bearer = [each for each in challenges(value) if each.scheme.lower() == "bearer"]
    assert [each.parameters["resource_metadata"] for each in bearer] == [URL]


def test_quoted_pairs_are_resolved() -> None:
    assert challenges('Bearer realm="a\\"b\\\\c"') == [
        Challenge(scheme="Bearer", parameters={"realm": 'a"b\\c'})
    ]


@pytest.mark.parametrize("value", ["", " , ,", "\x00", '"Bearer"', "=x"])
def test_what_is_no_challenge_gives_none(value: str) -> None:
    assert challenges(value) == []


def test_unclosed_quote_ends_the_reading() -> None:
    assert challenges('Bearer realm="x", resource_metadata="https://never') == [
        Challenge(scheme="Bearer", parameters={"realm": "x"})
    ]


@pytest.mark.parametrize(
    ("host", "inside"),
    [
        ("orders-svc", True),
        ("orders.default.svc", True),
        ("orders.local", True),
        ("10.0.0.7", True),
        ("fd00::7", True),
        ("localhost", False),
        ("127.0.0.2", False),
        ("::1", False),
        ("orders.example", False),
        ("8.8.8.8", False),
    ],
)
def test_a_host_inside_is_one_that_only_a_private_network_knows(host: str, inside: bool) -> None:
    assert _pointers._is_private(host) is inside
