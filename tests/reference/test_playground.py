"""The playground without a browser: nine steps, one fault at most, and what the browser does not see."""

from __future__ import annotations

import base64
import re
from collections.abc import Callable
from html import unescape
from typing import Any

import httpx
import pytest
from starlette.responses import JSONResponse, Response

from gateproof.reference.playground import redaction
from gateproof.reference.playground.app import playground_app
from gateproof.reference.playground.faults import FAULTS
from gateproof.reference.playground.redaction import Hidden, Redactor
from gateproof.reference.playground.settings import Settings, Stage, read_settings
from gateproof.reference.playground.wire import Wire
from gateproof.reference.serving import NotServed

BASE, CORE, MERCHANT = "https://base.test:8443", "https://core.test:8444", "https://merchant.test"
PLAYGROUND = "https://playground.test:8447"
WRONG = {fault.name: fault for fault in FAULTS}


class Player:
    """A browser at the playground, in front of a gateway in the same process."""

    def __init__(self, party: Any) -> None:
        self.party, self.seen = party, list[str]()
        names = ("usual", "hold", "foreign", "distrusted", "broken")
        self.places = {name: party.place(indicator=f"https://api.merchant.test/{name}") for name in names}
        self.places["unrefreshed"] = self.places["revoked"] = usual = self.places["usual"]
        party.control("set_agent_policy", project_id=self.places["hold"].project_id, agent_policy="hold")
        revoked = party.control("create_proxy_client", project_id=usual.project_id)
        party.control("revoke_proxy_client", project_id=usual.project_id, client_id=revoked["client_id"])
        owners = {name: place.proxy for name, place in self.places.items()}
        owners["revoked"] = (revoked["client_id"], revoked["client_secret"])
        self.secrets = [secret for _, secret in owners.values()]
        at = self.places | {"foreign": usual}
        stages = [
            Stage(
                name=name,
                resource_id=at[name].resource_id,
                indicator=at[name].indicator,
                scopes=("orders:read",),
                proxy_client_id=client_id,
                proxy_client_secret=secret,
            )
            for name, (client_id, secret) in owners.items()
        ]
        settings = Settings(
            playground_url=PLAYGROUND,
            base_url=BASE,
            merchant_api_url=f"{MERCHANT}/api",
            stages={stage.name: stage for stage in stages},
        )
        served = {BASE: party.apps.base, CORE: party.apps.core, MERCHANT: party.merchant.app}
        mounts = {url: httpx.ASGITransport(app=app) for url, app in served.items()}
        # The agent asks the playground's own service, too, once there is an application to ask.
        itself = httpx.ASGITransport(app=Response(status_code=503))
        client = httpx.AsyncClient(mounts={**mounts, PLAYGROUND: itself}, transport=itself)
        app = itself.app = playground_app(settings, Wire(client))
        self._browser = httpx.AsyncClient(transport=httpx.ASGITransport(app=app), base_url=PLAYGROUND)

    def get(self, path: str) -> httpx.Response:
        answer = self.party.runner.run(self._browser.get(path, follow_redirects=True))
        self.seen += [f"{each.headers} {each.text}" for each in (*answer.history, answer)]
        return answer

    def submit(self, page: httpx.Response, action: str, **fields: str) -> httpx.Response:
        token = re.search(r'name="csrf" value="([^"]+)"', page.text)
        assert token, page.text
        data = {"csrf": token[1], **fields}
        answer = self.party.runner.run(self._browser.post(action, data=data, follow_redirects=True))
        self.seen += [f"{each.headers} {each.text}" for each in (*answer.history, answer)]
        return answer

    def begin(self, fault: str = "", **fields: str) -> httpx.Response:
        return self.submit(self.get("/"), "/walks", **{"fault": fault, "stage": "usual", **fields})

    def steps(self, page: httpx.Response, first: int, last: int) -> httpx.Response:
        for step in range(first, last + 1):
            page = self.submit(page, "/walk/next", step=str(step))
        return page

    def user(self, page: httpx.Response) -> httpx.Response:
        """Signs in, approves, and goes back to where the gateway sends the browser."""
        link = re.search(r'<a href="([^"]+)" class="button">Sign in at the gateway', page.text)
        assert link, page.text
        self.party.client.cookies.clear()
        asked = self.party.page(unescape(link[1]))
        answer = self.party.decide(asked) if 'value="approve"' in asked.text else asked
        location = answer.headers.get("location", "")
        return self.get(location.removeprefix(PLAYGROUND)) if location else answer

    def close(self) -> None:
        self.party.runner.run(self._browser.aclose())


@pytest.fixture
def player(party: Any) -> Any:
    made = Player(party)
    yield made
    made.close()


def alert(page: httpx.Response) -> str:
    found = re.search(r'<p role="alert"[^>]*>([^<]+)</p>', page.text)
    return unescape(found[1]) if found else ""


def test_nine_steps_lead_to_the_orders(player: Player) -> None:
    page = player.steps(player.begin(), 1, 4)
    page = player.steps(player.user(page), 6, 9)
    assert alert(page) == ""
    assert page.text.count(">done</span>") == 9
    assert "order-of-alice@merchant.example" in page.text
    assert "It lives for another 60 minutes." in page.text
    assert page.text.count("<polygon") > 20
    for token in ("Gateway access token, decoded", "ID token, decoded"):
        assert token in page.text


def test_nothing_that_is_the_services_or_the_agents_own_reaches_the_browser(player: Player) -> None:
    party = player.party
    page = player.steps(player.begin(), 1, 4)
    player.steps(player.user(page), 6, 9)
    walk_tokens = [entry.access_token for entry in party.apps.gateway.store.vault.values()]
    assert walk_tokens
    stage = player.places["usual"]
    basic = base64.b64encode(":".join(stage.proxy).encode()).decode()
    seen = "\n".join(player.seen)
    for secret in (*walk_tokens, *player.secrets, basic, stage.proxy[0], "mat."):
        assert secret not in seen
    for kept in (
        redaction.PROXY_BASIC,
        redaction.PROXY_TOKEN,
        redaction.MERCHANT_TOKEN,
        redaction.AGENT_SECRET,
    ):
        assert f"[{kept.what}]".replace("'", "&#x27;") in seen
    assert not re.search(r"eyJ[\w-]+\.eyJ[\w-]+\.[\w-]{20,}", seen), "a token with its signature"


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        ("plain-redirect", "the gateway refuses the registration: status 400"),
        ("basic-agent", "the gateway refuses the registration: status 400"),
        ("no-openid", "the error 'invalid_scope'"),
        ("altered-state", "The state is not the one that was sent"),
        ("wrong-verifier", "The gateway refuses the exchange: invalid_grant."),
        ("exchange-elsewhere", "The gateway refuses the exchange: invalid_grant."),
        ("second-exchange", "401 invalid_token"),
        ("tampered-id-token", "no key of the core signed these claims"),
        ("tampered-access-token", "The service refuses the token: 401."),
        ("wrong-proxy-secret", "401 invalid_client"),
        ("revoked-proxy-client", "401 invalid_client"),
        ("no-proxy-token", "400 invalid_request"),
        ("id-token-redeemed", "401 invalid_token"),
        ("wrong-resource", "404 resource_not_found"),
        ("foreign-proxy-client", "401 invalid_proxy_token"),
        ("merchant-distrusts", "404 merchant_token_not_found"),
        ("merchant-broken", "404 merchant_token_not_found"),
        ("refresh-refused", "410 reauthentication_required"),
    ],
)
def test_one_thing_goes_wrong_where_it_was_put(player: Player, fault: str, said: str) -> None:
    merchant = player.party.merchant
    merchant.provisioning = {"merchant-distrusts": refusing(400), "merchant-broken": refusing(500)}.get(fault)
    if fault == "refresh-refused":
        merchant.lifetime, merchant.refresh = 1, refusing(400, "invalid_grant")
    # What a second exchange has done is noticed two steps later.
    step = WRONG[fault].step + 2 * (fault == "second-exchange")
    page = player.steps(player.begin(fault), 1, 4)
    if step > 4:
        page = player.user(page)
    page = player.steps(page, 6, step)
    assert said in alert(page)
    assert page.text.count(">done</span>") == step - 1
    assert page.text.count(">stopped</span>") == 1
    assert f'class="refused" id="step-{step}"' in page.text
    assert WRONG[fault].title.replace("'", "&#x27;") in page.text


def test_every_fault_is_tried_above_or_below() -> None:
    tried = test_one_thing_goes_wrong_where_it_was_put.pytestmark[0].args[1]  # type: ignore[attr-defined]
    assert {name for name, _ in tried} | {"unapproved-agent", "other-redirect"} == set(WRONG)


def test_redirect_uri_that_nobody_registered_ends_at_the_gateway(player: Player) -> None:
    page = player.steps(player.begin("other-redirect"), 1, 4)
    answer = player.user(page)
    assert answer.status_code == 400
    assert "redirect URI" in answer.text


def test_pending_agent_gets_a_code_after_its_approval(player: Player) -> None:
    page = player.steps(player.begin("unapproved-agent"), 1, 4)
    assert "waiting" in player.user(page).text
    ((project_id, client_id), _) = next(iter(player.party.apps.gateway.store.standings.items()))
    player.party.control("approve_agent", project_id=project_id, client_id=client_id)
    again = player.submit(player.get("/walk"), "/walk/again")
    page = player.user(again)
    assert ">done</span>" in page.text
    assert 'class="done" id="step-5"' in page.text


def test_revoked_in_the_meantime_shows_when_the_service_redeems_again(player: Player) -> None:
    page = player.steps(player.user(player.steps(player.begin(), 1, 4)), 6, 9)
    place = player.places["usual"]
    player.party.control("revoke_proxy_client", project_id=place.project_id, client_id=place.proxy[0])
    page = player.submit(page, "/walk/redeem-again")
    assert 'class="next" id="step-7"' in page.text
    assert "401 invalid_client" in alert(player.steps(page, 7, 7))


def test_step_is_made_once_and_in_its_turn(player: Player) -> None:
    page = player.begin()
    for step in ("3", "x", "", "9", "5"):
        page = player.submit(page, "/walk/next", step=step)
        assert "done</span>" not in page.text
    page = player.steps(page, 1, 1)
    assert player.submit(page, "/walk/next", step="1").text.count(">done</span>") == 1


def test_redirect_out_of_the_blue_brings_nothing(player: Player) -> None:
    assert player.get("/callback?code=planted-by-a-stranger&state=x").status_code == 400
    player.begin()
    page = player.get("/callback?code=planted-by-a-stranger&state=x")
    assert "answers no open authorization request" in alert(page)
    assert "planted-by-a-stranger" not in page.text


def test_resource_of_ones_own_needs_all_of_its_fields(player: Player) -> None:
    place = player.places["broken"]
    fields = {"stage": "own", "resource_id": place.resource_id, "indicator": place.indicator}
    fields |= {"scopes": "orders:read", "proxy_client_id": place.proxy[0]}
    refused = player.begin(**fields)
    assert "needs all of its fields" in alert(refused)
    assert place.indicator in refused.text
    refused = player.begin("revoked-proxy-client", **fields, proxy_client_secret=place.proxy[1])
    assert "needs a prepared Resource" in alert(refused)
    assert place.proxy[1] not in refused.text
    page = player.begin(**fields, proxy_client_secret=place.proxy[1])
    page = player.steps(player.user(player.steps(page, 1, 4)), 6, 9)
    assert page.text.count(">done</span>") == 9


def test_forms_need_the_sessions_token(player: Player) -> None:
    player.begin()
    for action in ("/walks", "/walk/next", "/walk/again", "/walk/redeem-again", "/walk/leave"):
        answer = player.party.runner.run(player._browser.post(action, data={"csrf": "forged", "step": "1"}))
        assert answer.status_code == 403


def test_redactor_finds_a_value_in_every_encoding() -> None:
    hidden, kept = Redactor(), Hidden(what="secret", why="because")
    hidden.hide('a+b/c"d=\u00e9', kept)
    for written in ('a+b/c"d=\u00e9', "a%2Bb%2Fc%22d%3D%C3%A9", 'a+b/c\\"d=\\u00e9'):
        assert hidden.redacted(f"<{written}>") == ("<", kept, ">")
    with pytest.raises(ValueError, match="too short"):
        hidden.hide("short", kept)


def test_settings_name_what_is_missing() -> None:
    with pytest.raises(NotServed, match="GATEPROOF_BASE_URL, GATEPROOF_MERCHANT_API_URL"):
        read_settings({"GATEPROOF_PLAYGROUND_URL": PLAYGROUND, "GATEPROOF_PLAYGROUND_STAGES": "[]"})
    environ = {
        "GATEPROOF_PLAYGROUND_URL": "https://127.0.0.1:8447",
        "GATEPROOF_BASE_URL": "https://127.0.0.1:8443",
        "GATEPROOF_MERCHANT_API_URL": "https://127.0.0.1:8448/api",
        "GATEPROOF_PLAYGROUND_STAGES": "[]",
    }
    with pytest.raises(NotServed, match="a stage with the name usual"):
        read_settings(environ)
    with pytest.raises(NotServed, match="its own https origin"):
        read_settings(environ | {"GATEPROOF_PLAYGROUND_URL": "http://127.0.0.1:8447"})


def refusing(status: int, error: str = "access_denied") -> Callable[[], Response]:
    return lambda: JSONResponse({"error": error}, status)
