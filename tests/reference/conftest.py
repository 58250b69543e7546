"""A gateway in the test's own process, with a merchant that does as it is told."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import json
import re
import secrets
import ssl
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl, quote, urlencode, urlsplit

import httpx
import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import ec
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import Route

from gateproof.reference.gateway.apps import control_app, create_apps
from gateproof.reference.gateway.clock import Clock
from gateproof.reference.gateway.http_client import HttpAnswer, HttpClient, TooLarge
from gateproof.reference.gateway.policies import Policies
from gateproof.reference.gateway.policy.vault import MerchantLimits

BASE, CORE, CONTROL = "https://base.test:8443", "https://core.test:8444", "http://127.0.0.1:8445/control"
MERCHANT = "https://merchant.test"
CALLBACK = "https://agent.example/callback"
JWT_BEARER = "urn:ietf:params:oauth:grant-type:jwt-bearer"


class StubMerchant:
    """Signs `user` in without asking, and rotates refresh tokens that work once."""

    def __init__(self) -> None:
        self.user = "alice@merchant.example"
        self.key = ec.generate_private_key(ec.SECP256R1())
        self.lifetime: Any = 3600
        self.issues_refresh_token = True
        self.rotates = True
        self.provisioning: Callable[[], Response] | None = None
        self.refresh: Callable[[], Response] | None = None
        self.id_token: Callable[[dict[str, Any]], str] = self.signed
        self.refresh_came = asyncio.Event()
        self.before_refresh: asyncio.Event | None = None
        self.asked: list[dict[str, str]] = []
        self.refresh_tokens: dict[str, str] = {}
        self.codes: dict[str, tuple[str, str]] = {}
        self.app = Starlette(
            routes=[
                Route("/authorize", self._authorize),
                Route("/token", self._token, methods=["POST"]),
                Route("/jwks", self._jwks),
                Route("/api/orders", self._orders),
            ]
        )

    def place(self, client_id: str) -> dict[str, Any]:
        paths = {"authorization_endpoint": "authorize", "token_endpoint": "token", "jwks_uri": "jwks"}
        paths |= {"userinfo_endpoint": "userinfo", "api_url": "api"}
        urls = {name: f"{MERCHANT}/{path}" for name, path in paths.items()}
        return {"issuer": MERCHANT, "client_id": client_id, "ca_file": None, **urls}

    def signed(self, claims: dict[str, Any]) -> str:
        return jwt.encode(claims, self.key, "ES256", headers={"kid": "m1"})

    def asked_for(self, grant_type: str) -> list[dict[str, str]]:
        return [form for form in self.asked if form["grant_type"] == grant_type]

    async def _authorize(self, request: Request) -> Response:
        query = request.query_params
        code = secrets.token_urlsafe(8)
        self.codes[code] = (query["nonce"], query["code_challenge"])
        answer = urlencode({"code": code, "state": query["state"]})
        return RedirectResponse(f"{query['redirect_uri']}?{answer}", 302)

    async def _jwks(self, _request: Request) -> Response:
        public = json.loads(jwt.algorithms.ECAlgorithm.to_jwk(self.key.public_key()))
        return JSONResponse({"keys": [{**public, "kid": "m1"}]})

    async def _orders(self, request: Request) -> Response:
        scheme, _, token = request.headers.get("authorization", "").partition(" ")
        if scheme != "Bearer" or not token.startswith("mat."):
            return JSONResponse({"error": "invalid_token"}, 401)
        login = token.removeprefix("mat.").rpartition(".")[0]
        return JSONResponse({"orders": [{"id": f"order-of-{login}", "item": "boots"}]})

    async def _token(self, request: Request) -> Response:
        form = dict(parse_qsl((await request.body()).decode()))
        self.asked.append(form)
        if form["grant_type"] == "authorization_code":
            return self._sign_in(form)
        if form["grant_type"] == JWT_BEARER:
            login = jwt.decode(form["assertion"], options={"verify_signature": False})["sub"]
            return self.provisioning() if self.provisioning else self.tokens(login)
        self.refresh_came.set()
        if self.before_refresh is not None:
            await self.before_refresh.wait()
        if self.refresh is not None:
            return self.refresh()
        login = self.refresh_tokens.get(form["refresh_token"])
        if login is None:
            return JSONResponse({"error": "invalid_grant"}, 400)
        if self.rotates:
            del self.refresh_tokens[form["refresh_token"]]
        return self.tokens(login, refresh_token=self.rotates)

    def _sign_in(self, form: dict[str, str]) -> Response:
        nonce, challenge = self.codes.pop(form["code"])
        assert s256(form["code_verifier"]) == challenge
        claims = {"iss": MERCHANT, "aud": form["client_id"], "sub": self.user, "email": self.user}
        claims |= {"nonce": nonce, "exp": 2**40, "preferred_username": self.user}
        return JSONResponse({"access_token": "signs-in", "id_token": self.id_token(claims)})

    def tokens(self, login: str, *, refresh_token: bool = True) -> Response:
        answer: dict[str, Any] = {"access_token": f"mat.{login}.{secrets.token_urlsafe(8)}"}
        if self.lifetime is not None:
            answer["expires_in"] = self.lifetime
        if refresh_token and self.issues_refresh_token:
            answer["refresh_token"] = secrets.token_urlsafe(16)
            self.refresh_tokens[answer["refresh_token"]] = login
        return JSONResponse(answer | {"token_type": "Bearer"})


@dataclass(frozen=True, kw_only=True)
class Place:
    """A Project with one Resource and one Proxy client."""

    project_id: str
    resource_id: str
    indicator: str
    proxy: tuple[str, str]


@dataclass(frozen=True, kw_only=True)
class Party:
    """Everybody who deals with the gateway: agent, browser, backend, operator."""

    clock: Clock
    merchant: StubMerchant
    apps: Any
    client: httpx.AsyncClient
    runner: asyncio.Runner
    verifiers: dict[str, str] = field(default_factory=dict)

    def send(self, *requests: httpx.Request) -> list[httpx.Response]:
        """All of them at the same time."""

        async def together() -> list[httpx.Response]:
            return list(await asyncio.gather(*(self.client.send(request) for request in requests)))

        return self.runner.run(together())

    def get(self, url: str, **options: Any) -> httpx.Response:
        return self.send(self.client.build_request("GET", url, **options))[0]

    def post(self, url: str, **options: Any) -> httpx.Response:
        return self.send(self.client.build_request("POST", url, **options))[0]

    def control(self, action: str, **arguments: Any) -> dict[str, Any]:
        answer = self.post(CONTROL, json={"action": action, **arguments})
        assert answer.status_code == 200, answer.text
        return answer.json()

    def place(
        self, *, project_id: str | None = None, indicator: str = "https://api.merchant.test/v1"
    ) -> Place:
        project_id = project_id or self.control("create_project", name="shop")["project_id"]
        merchant = self.merchant.place(f"gateway-{secrets.token_hex(4)}")
        resource = self.control(
            "create_resource",
            project_id=project_id,
            indicator=indicator,
            scopes=["orders:read", "orders:write"],
            merchant=merchant,
        )
        proxy = self.control("create_proxy_client", project_id=project_id)
        return Place(
            project_id=project_id,
            resource_id=resource["resource_id"],
            indicator=indicator,
            proxy=(proxy["client_id"], proxy["client_secret"]),
        )

    def register(self, **metadata: Any) -> httpx.Response:
        body = {
            "client_name": "Test agent",
            "redirect_uris": [CALLBACK],
            "grant_types": ["authorization_code", "refresh_token"],
            "response_types": ["code"],
            "token_endpoint_auth_method": "client_secret_post",
        }
        return self.post(f"{BASE}/api/register", json=body | metadata)

    def agent(self, **metadata: Any) -> dict[str, Any]:
        answer = self.register(**metadata)
        assert answer.status_code == 201, answer.text
        return answer.json()

    def authorization_url(self, place: Place, agent: dict[str, Any], **changes: str | None) -> str:
        verifier = secrets.token_urlsafe(32)
        parameters: dict[str, str | None] = {
            "response_type": "code",
            "client_id": agent["client_id"],
            "redirect_uri": agent["redirect_uris"][0],
            "scope": "openid orders:read",
            "state": secrets.token_urlsafe(16),
            "code_challenge": s256(verifier),
            "code_challenge_method": "S256",
        } | changes
        self.verifiers[agent["client_id"]] = verifier
        query = {name: value for name, value in parameters.items() if value is not None}
        return f"{BASE}/{place.resource_id}/oauth2/auth?{urlencode(query, quote_via=quote)}"

    def page(self, url: str) -> httpx.Response:
        """Where a browser ends that follows redirects, short of the agent's own address."""
        answer = self.get(url)
        for _ in range(5):
            location = answer.headers.get("location", "")
            if not location.startswith((BASE, MERCHANT)):
                break
            answer = self.get(location)
        return answer

    def decide(self, page: httpx.Response, decision: str = "approve") -> httpx.Response:
        ticket = re.search(r'name="ticket" value="([^"]+)"', page.text)
        action = re.search(r'action="([^"]+)"', page.text)
        assert ticket, page.text
        assert action, page.text
        form = {"ticket": ticket[1], "decision": decision}
        return self.post(f"{BASE}{action[1]}", data=form)

    def code(self, place: Place, agent: dict[str, Any], *, user: str | None = None, **changes: str) -> str:
        self.client.cookies.clear()
        self.merchant.user = user or self.merchant.user
        answer = self.decide(self.page(self.authorization_url(place, agent, **changes)))
        return query_of(answer)["code"]

    def exchange_request(self, agent: dict[str, Any], code: str, /, **changes: str | None) -> httpx.Request:
        form: dict[str, str | None] = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": agent["redirect_uris"][0],
            "client_id": agent["client_id"],
            "client_secret": agent["client_secret"],
            "code_verifier": self.verifiers[agent["client_id"]],
        } | changes
        data = {name: value for name, value in form.items() if value is not None}
        return self.client.build_request("POST", f"{CORE}/oauth2/token", data=data)

    def exchange(self, agent: dict[str, Any], code: str, /, **changes: str | None) -> httpx.Response:
        return self.send(self.exchange_request(agent, code, **changes))[0]

    def tokens(self, place: Place, agent: dict[str, Any] | None = None, **how: Any) -> dict[str, Any]:
        agent = agent or self.agent()
        answer = self.exchange(agent, self.code(place, agent, **how))
        assert answer.status_code == 200, answer.text
        return answer.json()

    def proxy_answer(self, place: Place, secret: str | None = None) -> httpx.Response:
        pair = f"{place.proxy[0]}:{secret or place.proxy[1]}".encode()
        headers = {"authorization": f"Basic {base64.b64encode(pair).decode()}"}
        return self.post(f"{CORE}/oauth2/token", headers=headers, data={"grant_type": "client_credentials"})

    def proxy_token(self, place: Place) -> str:
        return self.proxy_answer(place).json()["access_token"]

    def redemption(
        self, bearer: str | None, proxy: str | None, resource: Any, **options: Any
    ) -> httpx.Request:
        headers = {"authorization": f"Bearer {bearer}"} if bearer is not None else {}
        headers |= {"x-proxy-token": proxy} if proxy is not None else {}
        body = {"json": {"resource": resource}} | options
        return self.client.build_request("POST", f"{BASE}/api/credentials/token", headers=headers, **body)

    def redeem(self, bearer: str | None, proxy: str | None, resource: Any, **options: Any) -> httpx.Response:
        return self.send(self.redemption(bearer, proxy, resource, **options))[0]


def s256(verifier: str) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).rstrip(b"=").decode()


def query_of(answer: httpx.Response) -> dict[str, str]:
    assert answer.status_code == 302, answer.text
    return dict(parse_qsl(urlsplit(answer.headers["location"]).query, keep_blank_values=True))


class InMemoryClient(HttpClient):
    """The gateway's client for merchants, without a network."""

    def __init__(self, transport: httpx.ASGITransport) -> None:
        super().__init__(ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT))
        self._client = httpx.AsyncClient(transport=transport, timeout=5)

    async def request(
        self, method: str, url: str, headers: Mapping[str, str], body: bytes, limits: MerchantLimits
    ) -> HttpAnswer:
        async with self._client.stream(method, url, headers=headers, content=body) as answer:
            received = b"".join([chunk async for chunk in answer.aiter_raw()])
        if len(received) > limits.most_octets:
            raise TooLarge
        return HttpAnswer(status=answer.status_code, headers=dict(answer.headers), body=received)

    async def aclose(self) -> None:
        await self._client.aclose()


@pytest.fixture
def make_party() -> Iterator[Callable[..., Party]]:
    """A gateway with these policies, and everybody around it."""
    parties: list[Party] = []

    def make(policies: Policies | None = None) -> Party:
        clock, merchant, runner = Clock(), StubMerchant(), asyncio.Runner()
        transport = httpx.ASGITransport(app=merchant.app)
        apps = create_apps(
            base_url=BASE,
            core_url=CORE,
            policies=policies,
            clock=clock,
            connecting=lambda _ca_file: InMemoryClient(transport),
        )
        mounts = {
            BASE: httpx.ASGITransport(app=apps.base),
            CORE: httpx.ASGITransport(app=apps.core),
            MERCHANT: transport,
            "http://127.0.0.1:8445": httpx.ASGITransport(app=control_app(apps.gateway)),
        }
        # A transport of its own for the rest too: the default one loads a TLS context, which takes 20 ms.
        client = httpx.AsyncClient(mounts=mounts, transport=transport)
        parties.append(Party(clock=clock, merchant=merchant, apps=apps, client=client, runner=runner))
        return parties[-1]

    yield make
    for party in parties:
        party.runner.run(party.client.aclose())
        party.runner.run(party.apps.gateway.merchants.aclose())
        party.runner.close()


@pytest.fixture
def party(make_party: Callable[..., Party]) -> Party:
    return make_party()
