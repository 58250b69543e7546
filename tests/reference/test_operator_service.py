"""The honest operator's service, in front of the honest gateway."""

from __future__ import annotations

import asyncio
import json
import math
from typing import Any

import httpx
import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import ec
from starlette.responses import JSONResponse

from gateproof.reference.service.app import create_app
from gateproof.reference.service.backend import Backend
from gateproof.reference.service.policies import Policies
from gateproof.reference.service.policy.validation import ClaimFacts, not_expired
from gateproof.reference.service.settings import Settings, read_settings
from gateproof.reference.serving import NotServed

BASE, CORE, SERVICE = "https://base.test:8443", "https://core.test:8444", "https://service.test:8450"
LOCAL = "https://127.0.0.1:8450"
METADATA = f"{SERVICE}/.well-known/oauth-protected-resource"


class Recording(httpx.AsyncBaseTransport):
    """Passes requests on, keeps them, and may answer in somebody's place."""

    def __init__(self, behind: httpx.AsyncBaseTransport) -> None:
        self._behind = behind
        self.requests: list[httpx.Request] = []
        self.instead: dict[str, list[httpx.Response | None]] = {}

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        self.requests.append(request)
        prepared = self.instead.get(request.url.path)
        answer = (prepared.pop(0) if len(prepared) > 1 else prepared[0]) if prepared else None
        return answer or await self._behind.handle_async_request(request)

    def to(self, path: str) -> list[httpx.Request]:
        return [request for request in self.requests if request.url.path == path]


class Operator:
    """A service with everything around it."""

    def __init__(self, party: Any, policies: Policies | None = None) -> None:
        self.party = party
        self.place = party.place()
        self.settings = Settings(
            base_url=BASE,
            authorization_server=f"{BASE}/{self.place.resource_id}",
            indicator=self.place.indicator,
            proxy_client_id=self.place.proxy[0],
            proxy_client_secret=self.place.proxy[1],
            merchant_api_url="https://merchant.test/api",
            service_url=SERVICE,
        )
        client = party.client
        self.wires = {
            origin: Recording(client._transport_for_url(httpx.URL(origin)))
            for origin in (BASE, CORE, "https://merchant.test")
        }
        self.outgoing = httpx.AsyncClient(mounts=dict(self.wires), transport=self.wires[BASE])
        backend = Backend(self.settings, self.outgoing, party.clock.now, policies)
        self.log: list[str] = []
        app = create_app(backend, self.log.append)
        self.incoming = httpx.AsyncClient(transport=httpx.ASGITransport(app=app))

    @property
    def gateway(self) -> Recording:
        return self.wires[BASE]

    @property
    def core(self) -> Recording:
        return self.wires[CORE]

    def ask(
        self, *authorizations: str, url: str = f"{SERVICE}/orders", method: str = "GET"
    ) -> httpx.Response:
        headers = [("authorization", authorization) for authorization in authorizations]
        return self.party.runner.run(self.incoming.request(method, url, headers=headers))

    def orders(self, token: str) -> httpx.Response:
        return self.ask(f"Bearer {token}")


@pytest.fixture
def operator(party: Any) -> Operator:
    return Operator(party)


def challenged(answer: httpx.Response) -> bool:
    pointer = f'Bearer resource_metadata="{METADATA}"'
    return answer.status_code == 401 and answer.headers["www-authenticate"].startswith(pointer)


def test_the_metadata_names_the_service_and_its_authorization_server(operator: Operator) -> None:
    document = operator.ask(url=METADATA).json()

    assert document["resource"] == SERVICE
    assert document["authorization_servers"] == [f"{BASE}/{operator.place.resource_id}"]


def test_without_a_token_there_is_a_challenge(operator: Operator) -> None:
    answer = operator.ask(method="POST")

    assert challenged(answer)
    assert "error=" not in answer.headers["www-authenticate"]
    assert operator.ask(url=f"{SERVICE}/carts", method="POST").status_code == 404


@pytest.mark.parametrize("authorization", ["Basic YTpi", "Bearer", "Bearer ", "Bearer a b", "x", "Bearer ü"])
def test_what_is_no_bearer_token_gets_the_challenge(operator: Operator, authorization: str) -> None:
    headers = {"authorization": authorization.encode()}
    assert challenged(operator.party.runner.run(operator.incoming.get(f"{SERVICE}/orders", headers=headers)))
    assert operator.gateway.requests == []


def test_a_good_token_gives_the_users_orders(operator: Operator) -> None:
    for user in ("alice@merchant.example", "bob@merchant.example"):
        token = operator.party.tokens(operator.place, user=user)["access_token"]
        answer = operator.orders(token)
        assert answer.json() == {"orders": [{"id": f"order-of-{user}", "item": "boots"}]}


def test_bad_tokens_get_the_challenge_and_are_not_redeemed(operator: Operator) -> None:
    party = operator.party
    tokens = party.tokens(operator.place)
    claims = jwt.decode(tokens["access_token"], options={"verify_signature": False})
    header = jwt.get_unverified_header(tokens["access_token"])
    signing = party.apps.gateway.store.core_keys.current
    foreign = ec.generate_private_key(ec.SECP256R1())
    public = json.loads(jwt.algorithms.ECAlgorithm.to_jwk(foreign.public_key()))

    def minted(**changes: Any) -> str:
        kept = {name: value for name, value in (claims | changes).items() if value is not None}
        return jwt.encode(kept, signing.private, "ES256", headers=header)

    bad = [
        tokens["id_token"],
        tokens["refresh_token"],
        jwt.encode(claims, "", "none"),
        jwt.encode(claims, foreign, "ES256", headers=header),
        jwt.encode(claims, foreign, "ES256", headers={"jwk": public, "kid": "x"}),
        minted(iss=CORE + "/"),
        minted(aud=[SERVICE]),
        minted(aud=None),
        minted(exp=1),
        minted(exp=None),
        minted(exp=str(2**40)),
    ]
    assert operator.orders(minted()).status_code == 200
    redemptions = len(operator.gateway.to("/api/credentials/token"))

    assert [challenged(operator.orders(token)) for token in bad] == [True] * len(bad)
    assert len(operator.gateway.to("/api/credentials/token")) == redemptions


def test_an_expired_token_gets_the_challenge_after_it_was_accepted(operator: Operator) -> None:
    token = operator.party.tokens(operator.place)["access_token"]
    assert operator.orders(token).status_code == 200
    operator.party.clock.advance(3600)

    assert challenged(operator.orders(token))


def test_an_expiry_beyond_any_float_is_still_to_come(operator: Operator) -> None:
    claims = {"exp": 10**400}

    assert not_expired(ClaimFacts(token="", claims=claims, issuer="", settings=operator.settings, now=0.0))


def test_a_new_key_is_picked_up(operator: Operator) -> None:
    assert operator.orders(operator.party.tokens(operator.place)["access_token"]).status_code == 200
    operator.party.control("rotate_keys")
    operator.party.clock.advance(1)

    assert operator.orders(operator.party.tokens(operator.place)["access_token"]).status_code == 200


def test_the_proxy_token_is_cached_and_renewed_before_it_ends(operator: Operator) -> None:
    token = operator.party.tokens(operator.place)["access_token"]

    async def burst() -> list[httpx.Response]:
        headers = {"authorization": f"Bearer {token}"}
        asking = [operator.incoming.get(f"{SERVICE}/orders", headers=headers) for _ in range(20)]
        return list(await asyncio.gather(*asking))

    assert {answer.status_code for answer in operator.party.runner.run(burst())} == {200}
    (asked,) = operator.core.to("/oauth2/token")
    assert asked.content == b"grant_type=client_credentials"
    assert asked.headers["authorization"].startswith("Basic ")
    operator.party.clock.advance(3545)
    later = operator.party.tokens(operator.place)["access_token"]
    assert operator.orders(later).status_code == 200
    assert len(operator.core.to("/oauth2/token")) == 2


def test_redemption_carries_the_exact_resource_and_a_bare_proxy_token(operator: Operator) -> None:
    token = operator.party.tokens(operator.place)["access_token"]
    operator.orders(token)
    (redemption,) = operator.gateway.to("/api/credentials/token")
    (merchant,) = operator.wires["https://merchant.test"].to("/api/orders")

    assert json.loads(redemption.content) == {"resource": operator.place.indicator}
    assert redemption.headers["authorization"] == f"Bearer {token}"
    assert " " not in redemption.headers["x-proxy-token"]
    assert token not in str(merchant.headers.raw)
    assert "x-proxy-token" not in merchant.headers


def test_a_proxy_token_that_ended_early_is_replaced_once(party: Any) -> None:
    # It may be replaced once, however long the machine takes for what follows.
    operator = Operator(party, Policies(may_force=lambda since_last_s: since_last_s == math.inf))
    token = operator.party.tokens(operator.place)["access_token"]
    operator.orders(token)
    operator.gateway.instead["/api/credentials/token"] = [httpx.Response(401), None]

    assert operator.orders(token).status_code == 200
    operator.gateway.instead["/api/credentials/token"] = [httpx.Response(401)]
    assert challenged(operator.orders(token))
    assert len(operator.core.to("/oauth2/token")) == 2


@pytest.mark.parametrize(("status", "expected"), [(400, 503), (404, 403), (410, 401), (500, 503), (302, 503)])
def test_a_redemption_that_fails_gives_no_data_and_no_storm(
    operator: Operator, status: int, expected: int
) -> None:
    token = operator.party.tokens(operator.place)["access_token"]
    elsewhere = {"location": "https://evil.example/"}
    operator.gateway.instead["/api/credentials/token"] = [httpx.Response(status, headers=elsewhere)]
    answer = operator.orders(token)

    assert answer.status_code == expected
    assert "orders" not in answer.json()
    assert len(operator.gateway.to("/api/credentials/token")) <= 3
    del operator.gateway.instead["/api/credentials/token"]
    assert operator.orders(token).status_code == 200


def test_a_token_of_another_project_gets_nothing(operator: Operator) -> None:
    stranger = operator.party.tokens(operator.party.place())["access_token"]

    assert challenged(operator.orders(stranger))


@pytest.mark.parametrize(
    ("header", "value", "status"),
    [
        ("origin", "http://evil.example.com", 403),
        ("origin", "https://127.0.0.1.evil.example", 403),
        ("origin", "null", 403),
        ("origin", "http://[::", 403),
        ("host", "evil.example.com", 421),
        ("host", "evil.example.com:8450", 421),
        ("host", "", 421),
        ("origin", "http://localhost:6274", 200),
        ("origin", "https://[::1]:8450", 200),
        ("host", "LOCALHOST:8450", 200),
        ("host", "127.0.0.1", 200),
    ],
)
def test_mcp_endpoint_refuses_requests_of_another_site_even_with_a_good_token(
    operator: Operator, header: str, value: str, status: int
) -> None:
    token = operator.party.tokens(operator.place)["access_token"]
    headers = {"host": "127.0.0.1:8450", "authorization": f"Bearer {token}", header: value}
    beginning = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {}}

    answer = operator.party.runner.run(
        operator.incoming.post(f"{LOCAL}/mcp", headers=headers, json=beginning)
    )

    assert answer.status_code == status
    assert ("mcp-session-id" in answer.headers) is (status == 200)


def test_request_of_another_site_is_refused_before_its_token_is_read(operator: Operator) -> None:
    headers = {"origin": "http://evil.example.com", "authorization": "Bearer a.b.c"}

    answer = operator.party.runner.run(operator.incoming.get(f"{LOCAL}/mcp", headers=headers))

    assert answer.status_code == 403
    assert operator.gateway.requests == []


def test_no_credential_is_in_any_answer(operator: Operator) -> None:
    party = operator.party
    token = party.tokens(operator.place)["access_token"]
    party.merchant.refresh = lambda: JSONResponse({"error": "invalid_grant"}, 400)
    answers = [operator.orders(token), operator.ask(), operator.ask(url=METADATA)]
    party.clock.advance(3599)
    answers.append(operator.orders(token))
    seen = "".join(f"{answer.headers} {answer.text}" for answer in answers)
    secrets = [operator.place.proxy[1], *party.merchant.refresh_tokens, token, "mat."]
    secrets += [request.headers["x-proxy-token"] for request in operator.gateway.to("/api/credentials/token")]

    assert not [secret for secret in secrets if secret in seen]


def test_the_log_has_a_line_for_each_request_and_no_credential(operator: Operator) -> None:
    token = operator.party.tokens(operator.place)["access_token"]
    operator.orders(token)
    operator.ask(url=f"{SERVICE}/orders?access_token={token}")

    assert operator.log == ["GET /orders 200", "GET /orders 401"]


def test_the_environment_says_everything() -> None:
    environ = {
        "GATEPROOF_BASE_URL": BASE,
        "GATEPROOF_AUTHORIZATION_SERVER": f"{BASE}/res_1",
        "GATEPROOF_RESOURCE_INDICATOR": "urn:x",
        "GATEPROOF_PROXY_CLIENT_ID": "proxy_1",
        "GATEPROOF_PROXY_CLIENT_SECRET": "very-secret",
        "GATEPROOF_MERCHANT_API_URL": "https://merchant.test/api",
        "GATEPROOF_SERVICE_URL": "http://127.0.0.1:8450/",
    }

    settings = read_settings(environ)
    assert settings.service_url == "http://127.0.0.1:8450"
    assert "very-secret" not in repr(settings)
    with pytest.raises(NotServed, match="not set: GATEPROOF_BASE_URL, GATEPROOF_PROXY_CLIENT_SECRET"):
        read_settings(environ | {"GATEPROOF_BASE_URL": "", "GATEPROOF_PROXY_CLIENT_SECRET": ""})
    with pytest.raises(NotServed, match="stays on loopback"):
        read_settings(environ | {"GATEPROOF_SERVICE_URL": "https://service.example:443"})
