"""A Proxy client stands in Basic as it is or form-encoded, whatever characters its secret has."""

from __future__ import annotations

import base64
from urllib.parse import quote

import pytest

from gateproof.conformance.checks.service import back_forms
from gateproof.fakes.gateway.journal import Call
from gateproof.fakes.gateway.script import Endpoint

SECRET = "50%25 off: a+b"


def asked(authorization: str) -> Call:
    return Call(
        ordinal=1,
        endpoint=Endpoint.TOKEN,
        method="POST",
        target="/oauth2/token",
        headers=(("authorization", authorization),),
        body=b"",
        at_s=0,
    )


def basic(pair: str) -> Call:
    return asked(f"Basic {base64.b64encode(pair.encode()).decode()}")


@pytest.mark.parametrize("secret", [SECRET, quote(SECRET, safe="")])
def test_both_ways_to_write_a_pair_are_read(secret: str) -> None:
    assert ("proxy_1", SECRET) in back_forms._basic(basic(f"proxy_1:{secret}"))


@pytest.mark.parametrize("call", [basic("proxy_1:50% off: a+b"), asked("Bearer x"), asked("Basic \xe9")])
def test_anything_else_is_not_the_proxy_client(call: Call) -> None:
    assert ("proxy_1", SECRET) not in back_forms._basic(call)
