"""The Console's pages, asked without a browser."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from html import unescape
from typing import Any

import httpx
import pytest

from gateproof.reference.gateway.console.app import console_app
from gateproof.reference.gateway.console.signing_in import operator_with

CONSOLE = "https://console.test:8446"
PASSWORD = "correct-horse-battery"


class Operator:
    """A browser at the Console, without the pictures."""

    def __init__(self, party: Any, *, signed_in: bool = True) -> None:
        app = console_app(party.apps.gateway, console_url=CONSOLE, operator=operator_with(PASSWORD))
        self._run = party.runner.run
        self._client = httpx.AsyncClient(transport=httpx.ASGITransport(app=app), base_url=CONSOLE)
        if signed_in:
            assert self.sign_in().headers["location"] == "/projects"

    def get(self, path: str, **options: Any) -> httpx.Response:
        return self._run(self._client.get(path, **options))

    def post(self, path: str, form: dict[str, str], **options: Any) -> httpx.Response:
        return self._run(self._client.post(path, data=form, **options))

    def sign_in(self, password: str = PASSWORD) -> httpx.Response:
        return self.submit("/sign-in", "/sign-in", name="operator", password=password)

    def submit(self, page: str, action: str, **fields: str) -> httpx.Response:
        """Fill the form with this action on this page, and send it with all that is hidden in it."""
        return self.post(action, {**hidden(self.get(page), action), **fields})

    def follow(self, answer: httpx.Response) -> httpx.Response:
        assert answer.status_code == 303, answer.text
        return self.get(answer.headers["location"])

    def cookies(self) -> dict[str, str]:
        return dict(self._client.cookies)

    def forget(self) -> None:
        self._client.cookies.clear()


def hidden(page: httpx.Response, action: str) -> dict[str, str]:
    form = re.search(rf'<form method="post" action="{re.escape(action)}".*?</form>', page.text)
    assert form, page.text
    found = re.findall(r'<input type="hidden" name="([^"]+)" value="([^"]*)">', form[0])
    return {name: unescape(value) for name, value in found}


@pytest.fixture
def operator(party: Any) -> Operator:
    return Operator(party)


def project_of(operator: Operator, name: str = "shop", policy: str = "approve") -> str:
    made = operator.submit("/projects/new", "/projects", name=name, agent_policy=policy)
    return made.headers["location"]


@pytest.mark.parametrize(
    "path", ["/projects", "/projects/new", "/projects/prj_x", "/projects/prj_x/proxy-clients"]
)
def test_without_a_session_there_is_nothing_but_the_sign_in(party: Any, path: str) -> None:
    stranger = Operator(party, signed_in=False)
    for answer in (stranger.get(path), stranger.post(path.replace("/new", ""), {"csrf": "x", "name": "y"})):
        assert answer.status_code in (303, 405)
        assert answer.headers.get("location", "/sign-in") == "/sign-in"
    assert party.apps.gateway.store.projects == {}


def test_a_wrong_password_opens_nothing(party: Any) -> None:
    stranger = Operator(party, signed_in=False)
    answer = stranger.sign_in("guessed")
    assert answer.status_code == 403
    assert "Wrong name or password." in answer.text
    assert stranger.get("/projects").status_code == 303


def test_the_session_is_another_one_after_signing_in_and_gone_after_signing_out(party: Any) -> None:
    operator = Operator(party, signed_in=False)
    answer = operator.get("/sign-in")
    before = operator.cookies()
    for part in ("__Host-", "Path=/", "Secure", "HttpOnly", "SameSite=Strict"):
        assert part in answer.headers["set-cookie"]
    operator.sign_in()
    assert operator.cookies().keys() == before.keys()
    assert operator.cookies() != before
    assert operator.submit("/projects", "/sign-out").headers["location"] == "/sign-in"
    assert operator.get("/projects").headers["location"] == "/sign-in"


@pytest.mark.parametrize("token", ["", "wrong", "ümlaut"])
def test_a_form_without_the_sessions_token_does_nothing(party: Any, operator: Operator, token: str) -> None:
    answer = operator.post("/projects", {"csrf": token, "name": "forged"})
    assert answer.status_code == 403
    assert party.apps.gateway.store.projects == {}


def test_the_token_of_another_session_does_not_do(party: Any, operator: Operator) -> None:
    other = hidden(Operator(party, signed_in=False).get("/sign-in"), "/sign-in")
    assert operator.post("/projects", {**other, "name": "forged"}).status_code == 403


def test_another_site_gets_nowhere_even_with_the_token(party: Any, operator: Operator) -> None:
    token = hidden(operator.get("/projects/new"), "/projects")
    sent = {**token, "name": "forged", "agent_policy": "approve"}
    headers = {"origin": "https://console.test:9999"}
    assert operator.post("/projects", sent, headers=headers).status_code == 403
    assert operator.get("/projects", headers={"host": "evil.test:8446"}).status_code == 421
    assert operator.post("/projects", sent, headers={"origin": CONSOLE}).status_code == 303


def test_pages_may_load_their_own_style_and_nothing_else(operator: Operator) -> None:
    for path in ("/sign-in", "/projects", "/projects/nowhere", "/style.css", "/nowhere"):
        headers = operator.get(path).headers
        policy = headers["content-security-policy"]
        assert policy.startswith("default-src 'none'; style-src 'self';")
        assert {"form-action 'self'", "frame-ancestors 'none'"} <= set(policy.split("; "))
        assert "script" not in policy
        assert headers["cache-control"] == "no-store"


def test_a_project_is_created_with_its_agent_policy(party: Any, operator: Operator) -> None:
    place = project_of(operator, "Boots & more", "hold")
    page = operator.get(place)
    assert "The Project was created." in page.text
    assert "The Project was created." not in operator.get(place).text
    (project,) = party.apps.gateway.store.projects.values()
    assert (project.name, project.agent_policy) == ("Boots & more", "hold")
    operator.submit(place, f"{place}/agent-policy", agent_policy="approve")
    assert party.apps.gateway.store.projects[project.id].agent_policy == "approve"
    said = operator.follow(operator.submit(place, f"{place}/agent-policy", agent_policy="maybe")).text
    assert "Nothing was changed." in said


def test_a_nameless_project_is_refused_with_a_reason(operator: Operator) -> None:
    answer = operator.submit("/projects/new", "/projects", name=" ", agent_policy="approve")
    assert answer.status_code == 400
    assert "name: expected a non-empty string" in answer.text


def test_names_are_text_wherever_they_turn_up(party: Any, operator: Operator) -> None:
    name = "<b>bold</b>\"'&"
    party.control("create_project", name=name, agent_policy="hold")
    place = party.place(project_id=next(iter(party.apps.gateway.store.projects)))
    agent = party.agent(client_name=name)
    party.page(party.authorization_url(place, agent))
    for path in ("", "/agents", "/events"):
        page = operator.get(f"/projects/{place.project_id}{path}").text
        assert "<b>" not in page
        assert "&lt;b&gt;bold&lt;/b&gt;" in page


def test_a_resource_shows_its_reference_values_and_the_metadata_file(party: Any, operator: Operator) -> None:
    place = party.place()
    resource = f"/projects/{place.project_id}/resources/{place.resource_id}"
    page = operator.get(resource).text
    server = f"https://base.test:8443/{place.resource_id}"
    for value in (place.resource_id, place.indicator, server, f"{server}/jwks"):
        assert f"<code>{value}</code>" in page
    file = operator.get(f"{resource}/oauth-protected-resource.json", params={"service": "https://shop.test"})
    assert "attachment" in file.headers["content-disposition"]
    assert file.json()["resource"] == "https://shop.test"
    assert file.json()["authorization_servers"] == [server]
    other = party.control("create_project", name="other")["project_id"]
    assert operator.get(f"/projects/{other}/resources/{place.resource_id}").status_code == 404


def test_a_resource_is_created_from_what_the_merchant_says_of_itself(
    party: Any, operator: Operator, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = project_of(operator)
    known = party.merchant.place("unused")

    async def described(issuer: str, _ca_file: str | None) -> dict[str, Any] | None:
        return known if issuer == known["issuer"] else None

    monkeypatch.setattr(party.apps.gateway.merchants, "described", described)
    fields = {"indicator": "https://api.merchant.test/v9", "scopes": "orders:read  orders:write"}
    fields |= {"api_url": known["api_url"], "client_id": ""}
    wrong = operator.submit(
        f"{place}/resources/new", f"{place}/resources", issuer="https://nobody.test", **fields
    )
    assert wrong.status_code == 400
    assert 'value="https://api.merchant.test/v9"' in wrong.text
    made = operator.submit(f"{place}/resources/new", f"{place}/resources", issuer=known["issuer"], **fields)
    (resource,) = party.apps.gateway.store.resources.values()
    assert made.headers["location"].endswith(f"/resources/{resource.id}")
    assert resource.scopes == ("orders:read", "orders:write")
    assert resource.merchant.token_endpoint == known["token_endpoint"]
    assert resource.merchant.client_id == f"https://base.test:8443/{resource.id}"
    assert f'value="{known["issuer"]}"' in operator.get(f"{place}/resources/new").text


def test_a_proxy_clients_secret_is_shown_once(party: Any, operator: Operator) -> None:
    place = f"{project_of(operator)}/proxy-clients"
    form = hidden(operator.get(place), place)
    made = operator.post(place, form)
    secret, client_id = secret_on(made), next(iter(party.apps.gateway.store.proxy_clients))
    assert made.status_code == 200
    again = operator.post(place, form)
    assert again.status_code == 303
    assert len(party.apps.gateway.store.proxy_clients) == 1
    pages = [operator.get(path).text for path in ("/projects", place, f"{place}/{client_id}/revoke")]
    assert not any(secret in page for page in [*pages, again.text])
    assert secret not in repr(party.apps.gateway.store.proxy_clients)
    proxy = (client_id, secret)
    assert party.proxy_answer(replace(party.place(), proxy=proxy)).status_code == 200


def test_a_proxy_client_is_revoked_after_a_question(party: Any, operator: Operator) -> None:
    place = party.place()
    clients = f"/projects/{place.project_id}/proxy-clients"
    revoke = f"{clients}/{place.proxy[0]}/revoke"
    assert revoke in operator.get(clients).text
    asked = operator.get(revoke)
    assert "Revoke this Proxy client?" in asked.text
    assert party.proxy_answer(place).status_code == 200
    said = operator.follow(operator.post(revoke, hidden(asked, revoke))).text
    assert "The Proxy client was revoked." in said
    assert party.proxy_answer(place).status_code == 401
    assert operator.get(revoke).status_code == 303
    assert operator.get(f"{clients}/proxy_x/revoke").status_code == 404


def test_pending_agents_come_first_and_can_be_approved(party: Any, operator: Operator) -> None:
    project = party.control("create_project", name="shop", agent_policy="approve")["project_id"]
    place = party.place(project_id=project)
    party.tokens(place, party.agent(client_name="Early agent"))
    party.control("set_agent_policy", project_id=project, agent_policy="hold")
    late = party.agent(client_name="Late agent")
    party.client.cookies.clear()
    assert "waiting" in party.page(party.authorization_url(place, late)).text
    agents = f"/projects/{project}/agents"
    page = operator.get(agents).text
    assert page.index("Late agent") < page.index("Early agent")
    assert "Agents<span> (1 Pending)</span>" in page
    said = operator.follow(operator.submit(agents, f"{agents}/{late['client_id']}/approve")).text
    assert "The agent was approved." in said
    assert "Pending)" not in said
    assert party.tokens(place, late)["access_token"]


def test_events_tell_why_a_redemption_finds_nothing(party: Any, operator: Operator) -> None:
    place = party.place()
    events = f"/projects/{place.project_id}/events"
    assert "Nothing has happened yet." in operator.get(events).text
    party.merchant.provisioning = lambda: httpx_refusal(400)
    token = party.tokens(place)["access_token"]
    assert party.redeem(token, party.proxy_token(place), place.indicator).status_code == 404
    page = operator.get(events).text
    order = ["provisioning failed", "status 400", "provisioning started", "signed in"]
    assert [page.index(each) for each in order] == sorted(page.index(each) for each in order)
    assert party.merchant.user in page
    party.merchant.provisioning = None
    party.merchant.lifetime = 10
    party.tokens(place)
    party.clock.advance(11)
    party.merchant.refresh = lambda: httpx_refusal(400, "invalid_grant")
    token, proxy = party.tokens(place)["access_token"], party.proxy_token(place)
    party.clock.advance(11)
    assert party.redeem(token, proxy, place.indicator).status_code == 410
    page = operator.get(events).text
    assert "refresh failed" in page
    assert "provisioning succeeded" in page
    assert not any(each in page for each in (token, proxy, "mat."))


def test_every_page_is_made_of_the_same_frame(party: Any, operator: Operator) -> None:
    place = party.place()
    project = f"/projects/{place.project_id}"
    resource = f"{project}/resources/{place.resource_id}"
    for path in ("/projects", "/projects/new", project, f"{project}/resources/new", resource, "/nowhere"):
        page = operator.get(path).text
        assert page.startswith('<!doctype html>\n<html lang="en">')
        assert page.count("<h1>") == page.count("<main ") == page.count('class="skip"') == 1
        assert "<script" not in page
        assert "style=" not in page


def secret_on(page: httpx.Response) -> str:
    found = re.search(r"<dt>Client secret</dt><dd><code>([^<]+)</code>", page.text)
    assert found, page.text
    return found[1]


def httpx_refusal(status: int, error: str = "access_denied") -> Any:
    from starlette.responses import Response  # noqa: PLC0415 - what the stub merchant answers with

    return Response(json.dumps({"error": error}), status, media_type="application/json")
