"""A form that another browser sends: what comes of it is the form's doing, and of no new sign-in."""

from urllib.parse import parse_qsl

import pytest

from gateproof.conformance.run.gateway.browsing import KeptBrowser
from gateproof.conformance.signin.forms import FormsSignIn
from gateproof.conformance.suite.parties import User
from gateproof.conformance.wire.exchange import Answer, Exchange
from gateproof.conformance.wire.secret import Secret

GATEWAY = "https://127.0.0.1:8443"
CALLBACK = "https://agent.example/callback"
START = f"{GATEWAY}/res/oauth2/auth"
ALICE = User(name="alice", login="alice@merchant.example", password=Secret("password", "pw"))
LOGIN = (
    "<form method=post action=/login><input name=username><input type=password name=password><button>Sign in"
)
APPROVE = "<form method=post action=/decide><button name=answer value=yes>Approve</button></form>"


def html(body, *headers):
    return Answer(status=200, headers=(("Content-Type", "text/html"), *headers), body=body.encode())


def to(url):
    return Answer(status=302, headers=(("Location", url),))


class Careful:
    """A gateway that knows a browser by its cookie, and sends one that it does not know to the start."""

    def __init__(self):
        self.requests = []

    def knows(self, request):
        return ("Cookie", "b=1") in request.headers

    def answer(self, request):
        match request.url.partition("?")[0].removeprefix(GATEWAY):
            case "/res/oauth2/auth":
                return html(APPROVE if self.knows(request) else LOGIN, ("Set-Cookie", "b=1; Path=/"))
            case "/login":
                assert dict(parse_qsl(request.body.decode()))["password"] == "pw"
                return html(APPROVE) if self.knows(request) else to("/res/oauth2/auth")
            case "/decide":
                return to(f"{CALLBACK}?code=c") if self.knows(request) else to("/res/oauth2/auth")

    def send(self, request):
        self.requests.append(request)
        return Exchange(step="browser", request=request, answer=self.answer(request))


class CarelessAt(Careful):
    """The same, but at one address every browser is known."""

    def __init__(self, path):
        super().__init__()
        self.path = path

    def knows(self, request):
        return request.url.endswith(self.path) or super().knows(request)


def browser_at(gateway):
    way = FormsSignIn(send=gateway.send, may_visit=lambda url: url.startswith(GATEWAY))
    return KeptBrowser(way)


def begun_at(gateway):
    """A browser that has begun an authorization."""
    browser = browser_at(gateway)
    browser.look(START, ALICE)
    return browser


@pytest.mark.parametrize("act", [1, 2])
def test_no_code_comes_of_a_careful_gateway(act):
    visit = browser_at(Careful()).act_in_other_browser(act, START, ALICE)

    assert visit is not None
    assert visit.ended()
    assert visit.codes() == []


def test_a_code_comes_of_an_approve_form_that_works_anywhere():
    visit = browser_at(CarelessAt("/decide")).act_in_other_browser(2, START, ALICE)

    assert visit is not None
    assert visit.codes() == ["c"]


def test_a_code_comes_of_a_sign_in_form_that_works_anywhere():
    class Careless(CarelessAt):
        def knows(self, request):
            return request.url.endswith("/decide") or super().knows(request)

    visit = browser_at(Careless("/login")).act_in_other_browser(1, START, ALICE)

    assert visit is not None
    assert visit.codes() == ["c"]


class AskingForAnyCookie(Careful):
    """Each browser has a cookie of its own, and any of them will do."""

    def answer(self, request):
        answer = super().answer(request)
        given = tuple((name, f"b={len(self.requests)}; Path=/") for name, _ in answer.headers[1:])
        return Answer(status=answer.status, headers=(*answer.headers[:1], *given), body=answer.body)

    def knows(self, request):
        return any(name == "Cookie" for name, _ in request.headers)


@pytest.mark.parametrize(("begun", "codes"), [(False, []), (True, ["c"])])
def test_a_browser_that_has_begun_an_authorization_sends_its_own_cookies(begun, codes):
    gateway = AskingForAnyCookie()

    visit = browser_at(gateway).act_in_other_browser(2, START, ALICE, to=begun_at(gateway) if begun else None)

    assert visit is not None
    assert visit.codes() == codes
    sent = [value for name, value in gateway.requests[-1].headers if name == "Cookie"]
    assert sent == (["b=1"] if begun else [])


def test_nothing_is_done_in_a_browser_that_has_begun_an_authorization():
    class Forgetful(Careful):
        """Shows what the browser's own authorization asks, whatever was sent."""

        def answer(self, request):
            return html(APPROVE) if request.url.endswith("/decide") else super().answer(request)

    gateway = Forgetful()

    visit = browser_at(gateway).act_in_other_browser(2, START, ALICE, to=begun_at(gateway))

    assert visit is not None
    assert visit.ended()
    assert [request.url for request in gateway.requests if request.url.endswith("/decide")] == [
        f"{GATEWAY}/decide"
    ]


def test_there_is_nothing_to_hand_over_after_the_last_act():
    assert browser_at(Careful()).act_in_other_browser(3, START, ALICE) is None


@pytest.mark.parametrize("act", [1, 2])
def test_something_happens_in_the_same_browser_before_the_last_act(act):
    gateway, before = Careful(), []
    browser = browser_at(gateway)

    def meanwhile():
        before.extend(request.url for request in gateway.requests)
        browser.look(f"{START}?other=1", ALICE)

    visit = browser.call_before_act(act, START, ALICE, meanwhile)

    assert visit is not None
    assert visit.acts == act
    assert visit.codes() == ["c"][: act - 1]
    urls = [request.url for request in gateway.requests]
    assert urls == [*before, f"{START}?other=1", f"{GATEWAY}/{('login', 'decide')[act - 1]}"]


def test_there_is_nothing_to_hold_back_after_the_last_act():
    assert browser_at(Careful()).call_before_act(3, START, ALICE, lambda: None) is None


def test_the_form_is_sent_with_the_origin_of_its_page_and_without_its_cookies():
    gateway = Careful()
    browser_at(gateway).act_in_other_browser(1, START, ALICE)
    handed = next(request for request in gateway.requests if request.method == "POST")

    assert ("Origin", GATEWAY) in handed.headers
    assert not any(name == "Cookie" for name, _ in handed.headers)


def test_looking_presses_nothing():
    gateway = Careful()
    browser = browser_at(gateway)
    assert browser.visit(START, CALLBACK, ALICE, approve=True).codes() == ["c"]
    sent = len(gateway.requests)

    visit = browser.look(START, ALICE)

    assert visit.ended()
    assert visit.codes() == []
    assert [request.method for request in gateway.requests[sent:]] == ["GET"]


def test_what_the_last_form_said_is_kept_and_a_password_is_not():
    visit = browser_at(Careful()).visit(START, CALLBACK, ALICE, approve=True)
    assert visit.sent_last == (("answer", "yes"),)
    assert "yes" not in repr(visit)

    visit = browser_at(Careful()).act_in_other_browser(1, START, ALICE)
    assert visit is not None
    assert visit.sent_last == ()
