"""Proxy credentials go over the wire as they are, or form-encoded where the gateway reads them so."""

from __future__ import annotations

import base64
from typing import Any, cast
from urllib.parse import unquote_plus

import pytest

from gateproof.conformance.kit.gateway.gateway import Gateway
from gateproof.conformance.suite.parties import ProxyClient
from gateproof.conformance.wire.exchange import Answer, Exchange, Request
from gateproof.conformance.wire.keyring import Keyring
from gateproof.conformance.wire.secret import Secret

SECRET = "a+b/c=d%41 e"


class OneReading:
    """A token endpoint that reads Basic credentials in one way."""

    def __init__(self, *, decodes: bool) -> None:
        self.decodes, self.asked = decodes, 0

    def send(self, step: str, request: Request) -> Exchange:
        self.asked += 1
        given = base64.b64decode(dict(request.headers)["Authorization"].removeprefix("Basic ")).decode()
        secret = given.partition(":")[2]
        right = (unquote_plus(secret) if self.decodes else secret) == SECRET
        answer = Answer(status=200 if right else 401, body=b'{"access_token": "t"}' if right else b"{}")
        return Exchange(step=step, request=request, answer=answer)


@pytest.mark.parametrize("decodes", [False, True])
def test_secret_with_odd_letters_is_understood_either_way(decodes: bool) -> None:
    wire = OneReading(decodes=decodes)
    gateway = Gateway(
        base_url="https://gateway.example",
        core_url="https://core.example",
        wire=cast("Any", wire),
        keyring=Keyring(),
        sign_in=cast("Any", None),
    )
    client = ProxyClient(id="proxy_1", secret=Secret("proxy_client_secret", SECRET), project_id="prj_1")
    assert [gateway.proxy_token(client).status for _ in range(3)] == [200, 200, 200]
    assert wire.asked == (4 if decodes else 3)
    wrong = ProxyClient(id="proxy_1", secret=Secret("proxy_client_secret", "wrong"), project_id="prj_1")
    assert gateway.proxy_token(wrong).status == 401
