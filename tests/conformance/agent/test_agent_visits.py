"""What an agent prints is typed in where it is an address, and only if the agent opens no browser itself."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import NoReturn
from urllib.parse import quote

import pytest

from gateproof.conformance.kit.agent import browser
from gateproof.conformance.kit.agent import visits as agent_visits
from gateproof.conformance.kit.agent.browser import Courier
from gateproof.conformance.kit.agent.visits import Visit, Visits, deliver_unchanged
from gateproof.conformance.kit.agent.world import AgentWorld, Certificates
from gateproof.conformance.kit.authority import Authority
from gateproof.conformance.signin.sign_in_result import SignInRequest
from gateproof.conformance.wire.client import TargetSilent
from gateproof.fakes.gateway.agent_endpoints import AgentClient
from gateproof.fakes.gateway.running import Loop

CALLBACK = "https://127.0.0.1:9/callback"


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[AgentWorld]:
    authority = Authority(tmp_path_factory.mktemp("authority"))
    issued = authority.issue("world")
    files = {"good": (issued.cert_file, issued.key_file)}
    with Loop() as loop:
        made = AgentWorld(loop, Certificates(ca_file=authority.ca_file, files=files))
        yield made
        made.close()


@pytest.fixture
def visits(world: AgentWorld, monkeypatch: pytest.MonkeyPatch) -> Iterator[Visits]:
    monkeypatch.setattr(agent_visits, "_AGENT_OPENS_WITHIN_S", 0.0)
    monkeypatch.setattr(agent_visits, "_AGENT_OPENS_REDACTED_WITHIN_S", 0.0)
    made = Visits(world, deliver_unchanged)
    yield made
    made.close()


def asking(world: AgentWorld, **more: str) -> str:
    query = {"response_type": "code", "client_id": "a", "redirect_uri": CALLBACK, **more}
    pairs = "&".join(f"{name}={quote(value, safe='')}" for name, value in query.items())
    return f"{world.gateway_endpoints.site.authorization_endpoint}?{pairs}"


def typed(visits: Visits, text: str) -> list[str]:
    """The addresses that the user goes to on account of this text."""
    before = len(visits.made)
    visits.read(text)
    for thread in visits.tick():
        thread.join(10.0)
    return [visit.url for visit in visits.made[before:] if visit.how == "printed"]


@pytest.mark.parametrize(
    "around",
    [
        *("go to {}.", "<{}>", '{{"open": "{}"}}', "({})", "“{}”", "**{}**", "{}:", "open {}| or not", "{}!"),
        *('open {0}\n{{"message": "open {0}\\nand wait"}}', "open {0}\nlog: [{0}]: “{0}”"),
    ],
)
def test_printed_request_is_typed_in(world: AgentWorld, visits: Visits, around: str) -> None:
    assert typed(visits, around.format(asking(world, state="s"))) == [asking(world, state="s")]
    assert typed(visits, around.format(asking(world, state="s"))) == []


@pytest.mark.parametrize("rest", ["", "?", "?prompt=consent", "?response_type=code&client_id=a&"])
def test_endpoint_alone_is_not_an_address_to_go_to(world: AgentWorld, visits: Visits, rest: str) -> None:
    assert typed(visits, f"endpoint: {world.gateway_endpoints.site.authorization_endpoint}{rest}") == []


def test_nobody_types_what_an_agent_logs_that_opens_the_browser(world: AgentWorld, visits: Visits) -> None:
    visits.opened(asking(world, state="s"))

    assert typed(visits, f"opened {asking(world, state='[hidden]')}") == []
    assert typed(visits, f"{asking(world)}\n") == []
    assert [visit.how for visit in visits.made] == ["opened"]


WHOLE = {"state": "h5Vn7Wq0RkX2c9sZt1yB3A", "code_challenge": "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"}
MASKED = [
    {"state": "***", "code_challenge": "***"},
    {"state": "*" * 22, "code_challenge": "*" * 43},
    {"state": "<redacted>", "code_challenge": "<redacted>"},
    {"state": WHOLE["state"], "code_challenge": "E9Me"},
    {},
]


@pytest.mark.parametrize("shown", MASKED, ids=str)
def test_whole_address_is_typed_and_not_the_same_without_its_secrets(
    world: AgentWorld, visits: Visits, shown: dict[str, str]
) -> None:
    whole, masked = asking(world, **WHOLE), asking(world, **shown)

    assert typed(visits, f"log: {masked}\nopen {whole}\nlog: {masked}\n") == [whole]
    assert typed(visits, f"log: {masked}&prompt=consent\n") == []


@pytest.mark.parametrize("shown", MASKED, ids=str)
def test_agent_has_longer_to_open_what_it_has_logged_without_its_secrets(
    world: AgentWorld, visits: Visits, monkeypatch: pytest.MonkeyPatch, shown: dict[str, str]
) -> None:
    monkeypatch.setattr(agent_visits, "_AGENT_OPENS_REDACTED_WITHIN_S", 60.0)

    assert typed(visits, f"opening {asking(world, **shown)}\n") == []
    assert typed(visits, f"open {asking(world, **WHOLE)}\n") == [asking(world, **WHOLE)]


@pytest.mark.parametrize("end", ["…", "...", ""])
@pytest.mark.parametrize("left", [90, 150, 240])
def test_whole_address_is_typed_and_not_what_is_left_of_it_in_a_log(
    world: AgentWorld, visits: Visits, left: int, end: str
) -> None:
    whole = asking(world, **WHOLE)
    shortened = f"log: {whole[:left]}{end}\n"

    assert typed(visits, f"{shortened}open {whole}\n{shortened}") == [whole]


@pytest.mark.parametrize(
    "shown", [*MASKED, {"state": "Zt1yB3Ah5Vn7Wq0RkX2c9s", "code_challenge": "cut"}], ids=str
)
def test_address_of_a_broken_agent_is_typed_in(
    world: AgentWorld, visits: Visits, shown: dict[str, str]
) -> None:
    broken = asking(world, **shown)

    assert typed(visits, f"open {broken}") == [broken]
    # As in a second authorization, with a state of its own.
    assert typed(visits, f"open {asking(world, **WHOLE)}") == [asking(world, **WHOLE)]
    another = asking(world, state="q0RkX2c9sZt1yB3Ah5Vn7W", code_challenge="bad")
    assert typed(visits, f"open {another}") == [another]


@pytest.mark.parametrize("times", [0, 1, 2])
def test_browser_is_done_with_whatever_page_it_shows(
    world: AgentWorld, visits: Visits, monkeypatch: pytest.MonkeyPatch, times: int
) -> None:
    """The agent is not registered, or is held as Pending, or has closed its door to the redirect."""
    monkeypatch.setattr(browser, "_LISTENS_WITHIN_S", 0.0)
    world.gateway_endpoints.clients["a"] = AgentClient(
        client_id="a", secret="s", redirect_uris=(CALLBACK,) if times else (), pending=times == 1
    )

    assert visits.opened(asking(world))
    assert [len(visit.brought) for visit in visits.made] == [max(0, times - 1)]


def test_page_that_redirects_to_another_authorization_opens_it(world: AgentWorld) -> None:
    """As a callback does that has exchanged the code, and starts over because it was refused."""
    came: list[str] = []

    class Callback(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            came.append(self.path)
            again = len(came) == 1
            self.send_response(302 if again else 200)
            if again:
                self.send_header("Location", asking(world, redirect_uri=redirect_uri, state="second"))
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: object) -> None: ...

    with HTTPServer(("127.0.0.1", 0), Callback) as server:
        threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
        redirect_uri = f"http://127.0.0.1:{server.server_port}/callback"
        registered = AgentClient(client_id="a", secret="s", redirect_uris=(redirect_uri,), pending=False)
        world.gateway_endpoints.clients["a"] = registered
        made = Visits(world, deliver_unchanged)
        assert made.opened(asking(world, redirect_uri=redirect_uri, state="first"))
        made.close()
        server.shutdown()

    assert [(visit.value("state"), visit.how) for visit in made.made] == [
        ("first", "opened"),
        ("second", "opened"),
    ]
    assert [f"state={state}" in path for state, path in zip(("first", "second"), came, strict=True)] == [
        True
    ] * 2
    assert len({code for visit in made.made for code in visit.codes()}) == 2


def test_browser_returns_when_it_is_let_go_though_more_is_to_come(world: AgentWorld) -> None:
    registered = AgentClient(client_id="a", secret="s", redirect_uris=(CALLBACK,), pending=False)
    world.gateway_endpoints.clients["a"] = registered
    returned, brought = threading.Event(), threading.Event()

    def deliver(_visit: Visit, _redirect: str, courier: Courier) -> None:
        courier.returns_early = True
        if returned.wait(10.0):
            brought.set()

    made = Visits(world, deliver)
    assert made.opened(asking(world))
    returned.set()
    assert brought.wait(10.0)
    made.close()


def test_browser_without_a_page_has_failed(visits: Visits) -> None:
    assert not visits.opened(f"https://127.0.0.1:9/authorize?redirect_uri={CALLBACK}")


def test_page_of_the_agents_own_is_no_authorization(world: AgentWorld, visits: Visits) -> None:
    visits.opened("https://127.0.0.1:9/welcome")

    assert visits.made == []
    assert visits.others == ["https://127.0.0.1:9/welcome"]
    assert typed(visits, asking(world)) == [asking(world)]


def test_nobody_types_hundreds_of_addresses_at_one_moment(world: AgentWorld, visits: Visits) -> None:
    visits.read("\n".join(asking(world, state=f"s{number}") for number in range(200)))

    threads = visits.tick()

    assert len(threads) <= 10
    for thread in threads:
        thread.join(10.0)


@pytest.mark.parametrize(
    "odd", ["https://[oops/?redirect_uri=x&client_id=a", "https://127.0.0.1:no/?state=s"]
)
def test_address_that_is_none_spoils_nothing(world: AgentWorld, visits: Visits, odd: str) -> None:
    assert typed(visits, f"{odd}\n{asking(world, state='s')}") == [asking(world, state="s")]


def test_connections_of_a_sign_in_that_outlasts_the_run_are_closed(
    world: AgentWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(agent_visits, "_LAST_PAGE_S", 0.0)
    made = Visits(world, deliver_unchanged)
    asked, over, closed = threading.Event(), threading.Event(), threading.Event()

    def sign_in(_request: SignInRequest) -> NoReturn:
        asked.set()
        over.wait(10.0)
        raise TargetSilent("the run has ended")

    monkeypatch.setattr(made._forms, "sign_in", sign_in)
    monkeypatch.setattr(made._wire, "close", closed.set)
    opening = threading.Thread(target=made.opened, args=(asking(world),))
    opening.start()
    assert asked.wait(10.0)

    made.close()

    assert not closed.is_set()
    over.set()
    assert closed.wait(10.0)
    opening.join(10.0)
