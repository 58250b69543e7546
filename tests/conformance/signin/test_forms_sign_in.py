"""Sign-in by forms: the walk from the authorization URL to the redirect URI, and every way to get stuck."""

from urllib.parse import parse_qsl, urlsplit

import pytest

from gateproof.conformance.signin import browser
from gateproof.conformance.signin.browser import MOST_REDIRECTS, Browser, NoPage, Redirected
from gateproof.conformance.signin.forms import MOST_PAGES, FormsSignIn
from gateproof.conformance.signin.sign_in_result import SignInRequest
from gateproof.conformance.suite.parties import User
from gateproof.conformance.targets.model import Step
from gateproof.conformance.wire.exchange import Answer, Exchange
from gateproof.conformance.wire.secret import Secret

GATEWAY = "https://127.0.0.1:8443"
MERCHANT = "https://127.0.0.1:9443"
CALLBACK = "https://agent.example/cb"
START = f"{GATEWAY}/res/oauth2/auth?state=x"
ALICE = User(name="alice", login="alice@merchant.example", password=Secret("password", "pw"))
LOGIN = (
    "<form method=post action=/login><input name=username><input type=password name=password><button>Sign in"
)


class Site:
    """Servers in memory: paths answer with what a test gave them, and all requests are kept."""

    def __init__(self):
        self.routes = {}
        self.requests = []

    def send(self, request):
        self.requests.append(request)
        route = self.routes.get(request.url.partition("?")[0])
        answer = route(request) if callable(route) else route
        return Exchange(
            step="sign-in", request=request, answer=answer, failure=None if answer else "nobody there"
        )

    def header(self, index, name):
        return dict(self.requests[index].headers).get(name)

    def form(self, index):
        return dict(parse_qsl(self.requests[index].body.decode(), keep_blank_values=True))


def html(body, *headers, status=200):
    return Answer(status=status, headers=(("Content-Type", "text/html"), *headers), body=body.encode())


def to(url, *headers, status=302):
    return Answer(status=status, headers=(("Location", url), *headers))


@pytest.fixture
def site():
    return Site()


def allowed(url):
    return url.startswith((GATEWAY + "/", MERCHANT + "/"))


@pytest.fixture
def sign_in(site):
    def sign_in(*, approve=True, redirect_uri=CALLBACK, steps=()):
        way = FormsSignIn(send=site.send, may_visit=allowed, steps=steps)
        request = SignInRequest(
            authorization_url=START, redirect_uri=redirect_uri, user=ALICE, approve=approve
        )
        return way.sign_in(request)

    return sign_in


@pytest.fixture
def federated(site):
    """A gateway that sends the user to the merchant's login, and asks for approval afterwards."""

    def login(request):
        if request.method == "GET":
            return html(f"<title>Log in</title>{LOGIN}", ("Set-Cookie", "m=1; Path=/; Secure"))
        good = dict(parse_qsl(request.body.decode())) == {"username": ALICE.login, "password": "pw"}
        return to(f"{GATEWAY}/return?code=m") if good else html(LOGIN, status=401)

    def decide(request):
        answer = dict(parse_qsl(request.body.decode())).get("answer")
        return to(
            f"{CALLBACK}?code=c&state=x" if answer == "yes" else f"{CALLBACK}?error=access_denied&state=x"
        )

    site.routes = {
        f"{GATEWAY}/res/oauth2/auth": to(f"{MERCHANT}/login?x=1", ("Set-Cookie", "g=1; Path=/; Secure")),
        f"{MERCHANT}/login": login,
        f"{GATEWAY}/return": html(
            "<form method=post action=/decide><input type=hidden name=csrf value=t>"
            "<button name=answer value=yes>Approve</button><button name=answer value=no>Deny</button></form>"
        ),
        f"{GATEWAY}/decide": decide,
    }
    return site


def test_a_user_who_approves_lands_on_the_redirect_uri(federated, sign_in):
    landing = sign_in()

    assert landing.redirected_to == f"{CALLBACK}?code=c&state=x"
    assert landing.left_to is None
    assert (landing.acts, landing.declined) == (2, False)
    assert landing.hops == (
        f"{GATEWAY}/res/oauth2/auth",
        f"{MERCHANT}/login",
        f"{MERCHANT}/login",
        f"{GATEWAY}/return",
        f"{GATEWAY}/decide",
    )
    assert federated.form(4) == {"csrf": "t", "answer": "yes"}
    assert federated.header(4, "Cookie") == "g=1; m=1"
    assert all(not request.url.startswith(CALLBACK) for request in federated.requests)


def test_a_user_who_declines_lands_there_with_an_error(federated, sign_in):
    landing = sign_in(approve=False)

    assert landing.redirected_to == f"{CALLBACK}?error=access_denied&state=x"
    assert landing.declined


def test_pages_say_where_they_were_opened_from(federated, sign_in):
    sign_in()

    assert (federated.header(0, "Referer"), federated.header(1, "Referer")) == (None, None)
    assert federated.header(2, "Referer") == f"{MERCHANT}/login?x=1"
    assert federated.header(2, "Origin") == MERCHANT
    assert federated.header(3, "Referer") == f"{MERCHANT}/"
    assert federated.header(4, "Origin") == GATEWAY


def test_a_page_that_wants_no_referrer_gets_none(site, sign_in):
    site.routes = {
        f"{GATEWAY}/res/oauth2/auth": html(LOGIN, ("Referrer-Policy", "no-referrer")),
        f"{GATEWAY}/login": to(f"{CALLBACK}?code=c"),
    }
    sign_in()

    assert (site.header(1, "Referer"), site.header(1, "Origin")) == (None, "null")


def test_of_several_referrer_policies_the_last_that_is_one_counts(site, sign_in):
    several = (("Referrer-Policy", "no-referrer"), ("Referrer-Policy", "origin, no-such-policy"))
    site.routes = {
        f"{GATEWAY}/res/oauth2/auth": html(LOGIN, *several),
        f"{GATEWAY}/login": to(f"{CALLBACK}?code=c"),
    }
    sign_in()

    assert (site.header(1, "Referer"), site.header(1, "Origin")) == (f"{GATEWAY}/", GATEWAY)


def test_a_form_may_lead_straight_to_the_redirect_uri(site, sign_in):
    site.routes = {
        f"{GATEWAY}/res/oauth2/auth": html(
            f"<form action={CALLBACK}><input type=hidden name=code value=c><button>Go"
        )
    }

    assert sign_in().redirected_to == f"{CALLBACK}?code=c"


def test_a_refresh_that_waits_for_nothing_is_followed(site, sign_in):
    site.routes = {
        f"{GATEWAY}/res/oauth2/auth": html(f"<meta http-equiv=refresh content='0;url={CALLBACK}?code=c'>")
    }

    assert sign_in().redirected_to == f"{CALLBACK}?code=c"


def test_a_page_that_shows_itself_again_is_waited_for_until_it_leads_on(site, sign_in, monkeypatch):
    pauses = []
    monkeypatch.setattr(browser.time, "sleep", pauses.append)
    waiting = html("<meta http-equiv=refresh content=1><p>Connecting your account")
    done = html(f"<meta http-equiv=refresh content='2;url={CALLBACK}?code=c'><p>Back to the agent")
    shown = iter([waiting, waiting, done])
    site.routes = {f"{GATEWAY}/res/oauth2/auth": lambda _: next(shown)}

    assert sign_in().redirected_to == f"{CALLBACK}?code=c"
    assert pauses == [1, 1, 2]


def test_a_page_that_shows_itself_for_ever_is_where_it_ends(site, monkeypatch):
    pauses = []
    monkeypatch.setattr(browser.time, "sleep", pauses.append)
    site.routes = {f"{GATEWAY}/res/oauth2/auth": html("<meta http-equiv=refresh content=0><p>Pending")}

    way = FormsSignIn(send=site.send, may_visit=allowed)
    request = SignInRequest(authorization_url=START, redirect_uri=CALLBACK, user=ALICE, approve=True)

    for waited_s in (browser.LONGEST_S, browser.KNOWN_S):
        assert way.sign_in(request).excerpt == "Pending"
        assert sum(pauses) == waited_s
        pauses.clear()


@pytest.mark.parametrize("status", [200, 403])
def test_an_error_and_a_form_are_not_waited_at(site, sign_in, monkeypatch, status):
    monkeypatch.setattr(browser.time, "sleep", pytest.fail)
    body = "<meta http-equiv=refresh content=1><p>x" + ("<form><button>Deny" if status == 200 else "")
    site.routes = {f"{GATEWAY}/res/oauth2/auth": html(body, status=status)}

    assert sign_in().status == status


def test_links_lead_to_the_sign_in_and_back(site, sign_in):
    site.routes = {
        f"{GATEWAY}/res/oauth2/auth": html("<a href='/federate?txn=1'>Sign in with the merchant</a>"),
        f"{GATEWAY}/federate": html(LOGIN),
        f"{GATEWAY}/login": html(f"<a href='{CALLBACK}?code=c'>Approve</a><a href=/no>Deny</a>"),
    }

    landing = sign_in()
    assert (landing.redirected_to, landing.acts) == (f"{CALLBACK}?code=c", 3)
    assert site.requests[1].url == f"{GATEWAY}/federate?txn=1"


@pytest.mark.parametrize(
    "elsewhere",
    [
        f"{CALLBACK}/?code=c",
        "http://agent.example/cb?code=c",
        "https://agent.example.evil.example/cb?code=c",
        "https://evil.example/",
        "myapp://cb?code=c",
        "javascript:alert(1)",
        "https://127.0.0.1:8443@evil.example/",
        "https://[::1/",
    ],
)
def test_addresses_of_strangers_are_reported_and_not_fetched(site, sign_in, elsewhere):
    site.routes = {f"{GATEWAY}/res/oauth2/auth": to(elsewhere)}

    landing = sign_in()

    assert (landing.redirected_to, landing.left_to) == (None, elsewhere)
    assert len(site.requests) == 1


def test_a_back_slash_does_not_pass_for_the_targets_own_host(site, sign_in):
    site.routes = {f"{GATEWAY}/res/oauth2/auth": to("/\\evil.example/x")}

    assert sign_in().left_to == "https://evil.example/x"


def test_a_redirect_uri_on_the_targets_own_host_is_not_fetched_either(site, sign_in):
    callback = f"{GATEWAY}/playground/cb"
    site.routes = {f"{GATEWAY}/res/oauth2/auth": to(f"{callback}?code=c")}

    assert sign_in(redirect_uri=callback).redirected_to == f"{callback}?code=c"
    assert len(site.requests) == 1


@pytest.mark.parametrize(
    ("status", "method"), [(301, "GET"), (302, "GET"), (303, "GET"), (307, "POST"), (308, "POST")]
)
def test_redirects_keep_or_change_the_method(site, sign_in, status, method):
    site.routes = {
        f"{GATEWAY}/res/oauth2/auth": html(LOGIN),
        f"{GATEWAY}/login": to("/again", status=status),
        f"{GATEWAY}/again": to(f"{CALLBACK}?code=c"),
    }
    sign_in()

    again = site.requests[2]
    assert again.method == method
    assert (site.form(2) == site.form(1)) == (method == "POST")
    assert ("Content-Type" in dict(again.headers)) == (method == "POST")


def test_a_page_without_a_form_ends_the_walk(site, sign_in):
    site.routes = {
        f"{GATEWAY}/res/oauth2/auth": html("<title>Wait</title><p>An operator has to approve.", status=403)
    }

    landing = sign_in()

    assert (landing.redirected_to, landing.left_to, landing.acts) == (None, None, 0)
    assert (landing.status, landing.title, landing.excerpt) == (403, "Wait", "An operator has to approve.")
    assert "no form" in landing.stuck


def test_a_login_that_keeps_failing_ends(site, sign_in):
    site.routes = {f"{GATEWAY}/res/oauth2/auth": html(LOGIN), f"{GATEWAY}/login": lambda _: html(LOGIN)}

    landing = sign_in()

    assert "keeps asking for the password" in landing.stuck
    assert len(site.requests) == 3


def test_pages_that_lead_nowhere_end(site, sign_in):
    again = html("<form method=post action=/more><button>Continue")
    site.routes = {f"{GATEWAY}/res/oauth2/auth": again, f"{GATEWAY}/more": again}

    assert f"more than {MOST_PAGES} pages" in sign_in().stuck


def test_redirects_in_a_circle_end(site, sign_in):
    site.routes = {f"{GATEWAY}/res/oauth2/auth": to(START)}

    assert f"more than {MOST_REDIRECTS} redirects" in sign_in().stuck


def test_no_answer_is_told(site, sign_in):
    landing = sign_in()

    assert (landing.stuck, landing.status) == ("nobody there", None)


def test_a_user_who_cannot_decline_says_so(site, sign_in):
    site.routes = {f"{GATEWAY}/res/oauth2/auth": html("<form><button>Approve")}

    assert "reads like refusal" in sign_in(approve=False).stuck


def test_hints_choose_form_fields_and_button(site, sign_in):
    site.routes = {
        f"{GATEWAY}/res/oauth2/auth": html(
            "<form><input name=q><button>Search</button></form>"
            "<form method=post action=/login><input name=kennung><input name=pin><button>Weiter</button>"
            "<button name=go value=1>Los</button></form>"
        ),
        f"{GATEWAY}/login": to(f"{CALLBACK}?code=c"),
    }
    steps = (
        Step(url_contains="/elsewhere", press="Weiter"),
        Step(fill={"not-there": "{name}"}),
        Step(url_contains="/oauth2/auth", fill={"kennung": "x-{name}", "pin": "{password}"}, press="los"),
    )

    landing = sign_in(steps=steps)

    assert landing.redirected_to is not None
    assert site.form(1) == {"kennung": "x-alice", "pin": "pw", "go": "1"}


def test_a_hint_does_not_make_a_declining_user_approve(federated, sign_in):
    landing = sign_in(approve=False, steps=(Step(press="Approve"),))

    assert landing.declined


def test_a_browser_keeps_its_cookies_for_the_next_walk(federated):
    way = FormsSignIn(send=federated.send, may_visit=allowed)
    browser = way.browser(CALLBACK)
    request = SignInRequest(authorization_url=START, redirect_uri=CALLBACK, user=ALICE)
    first = way.sign_in_with(browser, request)
    second = way.sign_in_with(browser, request)

    assert federated.header(len(first.hops), "Cookie") == "g=1; m=1"
    assert len(second.hops) == len(first.hops)


def test_a_form_can_be_replayed_in_another_browser(federated):
    one, other = (Browser(send=federated.send, may_visit=allowed) for _ in range(2))
    page = one.open(START)
    (form,) = page.forms

    other.submit(page, form, form.buttons[0])

    assert federated.header(-1, "Cookie") is None


def test_a_browser_tells_where_it_did_not_go(site):
    browser = Browser(send=site.send, may_visit=allowed)

    assert browser.open("https://evil.example/") == Redirected(url="https://evil.example/")
    assert browser.open(START) == NoPage(reason="nobody there")


def test_what_a_landing_says_holds_no_query(federated, sign_in):
    assert sign_in().outcome() == "sent to the redirect URI"
    federated.routes[f"{GATEWAY}/decide"] = to("https://evil.example/cb?code=hidden")
    landing = sign_in()
    assert landing.outcome() == "sent to https://evil.example/cb"
    assert urlsplit(landing.sent_to).query == "code=hidden"
