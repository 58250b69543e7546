"""Where a browser ends is the answer to a request only at an address of its agent's, or with its state."""

from urllib.parse import urlencode

import pytest

from gateproof.conformance.kit.gateway.gateway import CALLBACK
from gateproof.conformance.run.gateway.browsing import visit_of
from gateproof.conformance.signin.sign_in_result import SignInRequest, SignInResult
from gateproof.conformance.suite.parties import User
from gateproof.conformance.wire.secret import Secret

ALICE = User(name="alice", login="alice@merchant.example", password=Secret("password", "pw"))


def visit_at(left_to, redirect_uri=CALLBACK):
    query = urlencode({"redirect_uri": redirect_uri, "state": "s+1"})
    url = f"https://gateway.example/res/oauth2/auth?{query}"
    request = SignInRequest(authorization_url=url, redirect_uri=CALLBACK, user=ALICE)
    return visit_of(SignInResult(left_to=left_to), request)


@pytest.mark.parametrize(
    "page",
    [
        "https://app.gateway.example/error?code=agent_pending",
        "https://app.gateway.example/error?code=invalid_redirect_uri&state=another",
        "https://app.gateway.example/error#code=agent_pending",
    ],
)
def test_the_code_of_an_error_page_is_none(page):
    visit = visit_at(page)

    assert visit.codes() == []
    assert visit.parameter("code") is None
    assert visit.ended()


@pytest.mark.parametrize(
    ("left_to", "asked_for"),
    [
        ("https://agent.example/other?code=c", CALLBACK),
        ("https://evil.example/callback?code=c", "https://evil.example/callback"),
        (
            "https://evil.example/@agent.example/callback?code=c",
            "https://evil.example\\@agent.example/callback",
        ),
        ("https://elsewhere.example/?code=c&state=s%2B1", CALLBACK),
        ("https://elsewhere.example/#code=c&state=s%2B1", CALLBACK),
        ("agent:callback?code=c", "agent:callback"),
    ],
)
def test_a_code_that_goes_astray_is_seen(left_to, asked_for):
    assert visit_at(left_to, asked_for).codes() == ["c"]


def test_what_an_agent_is_asked_for_need_not_be_an_address():
    assert visit_at("https://app.gateway.example/error?code=x", "https://[evil/").codes() == []
