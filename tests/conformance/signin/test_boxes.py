"""Boxes that start unticked: a hint ticks them, and whoever forgot to is told which."""

from urllib.parse import parse_qs

import pytest

from gateproof.conformance.run.gateway.browsing import visit_of
from gateproof.conformance.signin.forms import FormsSignIn
from gateproof.conformance.signin.sign_in_result import SignInRequest
from gateproof.conformance.suite.parties import User
from gateproof.conformance.targets.model import Step
from gateproof.conformance.wire.exchange import Answer, Exchange
from gateproof.conformance.wire.secret import Secret

GATEWAY = "https://127.0.0.1:8443"
CALLBACK = "https://agent.example/callback"
CONSENT = (
    "<form method=post action=/decide>"
    "<input type=checkbox name=scope value='orders:read' id='orders:read'>"
    "<input type=checkbox name=scope value='orders:write' id='orders:write' checked>"
    "<input type=radio name=for value=once checked><input type=radio name=for value=ever>"
    "<button>Allow</button></form>"
)
REQUEST = SignInRequest(
    authorization_url=f"{GATEWAY}/res/oauth2/auth?state=x",
    redirect_uri=CALLBACK,
    user=User(name="alice", login="alice@merchant.example", password=Secret("password", "pw")),
)


class Consent:
    """A gateway that grants what is ticked, and nothing where nothing fits."""

    def __init__(self):
        self.ticked = {}

    def send(self, request):
        answer = Answer(status=200, headers=(("Content-Type", "text/html"),), body=CONSENT.encode())
        if request.method == "POST":
            self.ticked = parse_qs(request.body.decode())
            given = "orders:read" in self.ticked.get("scope", ())
            end = "code=c" if given else "error=access_denied"
            answer = Answer(status=302, headers=(("Location", f"{CALLBACK}?{end}&state=x"),))
        return Exchange(step="browser", request=request, answer=answer)


def visit(gateway, **fill):
    steps = (Step(fill=fill),) if fill else ()
    way = FormsSignIn(send=gateway.send, may_visit=lambda url: url.startswith(GATEWAY), steps=steps)
    return visit_of(way.sign_in(REQUEST), REQUEST)


@pytest.mark.parametrize(
    ("fill", "ticked"),
    [
        ({"scope": "orders:read"}, {"scope": ["orders:read", "orders:write"], "for": ["once"]}),
        ({"orders:read": "yes", "orders:write": ""}, {"scope": ["orders:read"], "for": ["once"]}),
        ({"scope": "any"}, {"scope": ["orders:read", "orders:write"], "for": ["once"]}),
        ({"orders:read": "yes", "for": "ever"}, {"scope": ["orders:read", "orders:write"], "for": ["ever"]}),
    ],
)
def test_a_hint_ticks_a_box_and_leaves_its_value(fill, ticked):
    gateway = Consent()

    assert visit(gateway, **fill).codes() == ["c"]
    assert gateway.ticked == ticked


def test_boxes_that_stayed_unticked_are_named_where_no_code_came():
    ended = visit(Consent())

    assert ended.codes() == []
    assert ended.outcome().endswith("with error, state, boxes left unticked: orders:read")
    assert "unticked" not in visit(Consent(), scope="orders:read").outcome()
