"""A merchant in memory, and a gateway's side of the conversation with it."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import json
import random
import time
from collections.abc import Iterator
from functools import cache
from typing import Any
from urllib.parse import parse_qsl, urljoin, urlsplit

import httpx
import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from jwt.algorithms import get_default_algorithms
from selectolax.lexbor import LexborHTMLParser

from gateproof.fakes.merchant.application import application
from gateproof.fakes.merchant.clients import Client
from gateproof.fakes.merchant.config import MerchantConfig
from gateproof.fakes.merchant.merchant import build
from gateproof.fakes.merchant.minting import new_signer
from gateproof.fakes.merchant.outcomes import PARAMETERS
from gateproof.fakes.merchant.script import parse_script
from gateproof.fakes.merchant.users import ALICE_PASSWORD

BASE = "https://merchant.test"
CALLBACK = "https://gateway.test/callback"
ALICE = "alice@merchant.example"
JWT_BEARER = "urn:ietf:params:oauth:grant-type:jwt-bearer"
TOKEN_EXCHANGE = "urn:ietf:params:oauth:grant-type:token-exchange"
CLIENT_ASSERTION = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
# Making RSA keys is slow; no test needs keys that nobody else has.
SIGNER = new_signer(7)


@cache
def rsa_key() -> rsa.RSAPrivateKey:
    return rsa.generate_private_key(public_exponent=65537, key_size=2048)


def private_key(algorithm: str) -> Any:
    match algorithm:
        case "ES256":
            return ec.generate_private_key(ec.SECP256R1())
        case "ES384":
            return ec.generate_private_key(ec.SECP384R1())
        case "EdDSA":
            return ed25519.Ed25519PrivateKey.generate()
        case _:
            return rsa_key()


class Key:
    """One signing key of the gateway under test."""

    def __init__(self, algorithm: str = "ES256", kid: str | None = "k1") -> None:
        self.algorithm = algorithm
        self.kid = kid
        self.private = private_key(algorithm)

    def jwk(self) -> dict[str, Any]:
        public = json.loads(get_default_algorithms()[self.algorithm].to_jwk(self.private.public_key()))
        return {**public, **({"kid": self.kid} if self.kid else {})}

    def sign(self, claims: dict[str, Any], **headers: Any) -> str:
        named = {"kid": self.kid, **headers} if self.kid else headers
        return jwt.encode(claims, self.private, self.algorithm, headers=named)


class World:
    """One merchant, its clients `one` and `two`, and what a gateway sends it."""

    def __init__(self, **settings: Any) -> None:
        self.runner = asyncio.Runner()
        self.now = float(int(time.time()))
        self.fetches: list[str] = []
        self.sets: dict[str, list[dict[str, Any]]] = {}
        self.keys = {"one": Key(), "two": Key(kid="k2")}
        config = MerchantConfig(admin_token="an-admin-token-of-tests", **settings)
        self.gateway = httpx.AsyncClient(transport=httpx.MockTransport(self._serve_keys))
        self.merchant = build(
            config,
            base_url=BASE,
            http=self.gateway,
            wall=lambda: self.now,
            entropy=random.SystemRandom(),
            signer=SIGNER,
        )
        self.places = self.merchant.shape.endpoints
        self.http = httpx.AsyncClient(
            transport=httpx.ASGITransport(application(self.merchant)), base_url=BASE, follow_redirects=False
        )
        for name, key in self.keys.items():
            self.publish(name, key)
            self.merchant.clients.register(Client(client_id=name, jwks_uri=f"https://gateway.test/{name}"))

    def _serve_keys(self, request: httpx.Request) -> httpx.Response:
        name = request.url.path.removeprefix("/")
        self.fetches.append(name)
        return (
            httpx.Response(200, json={"keys": self.sets[name]}) if name in self.sets else httpx.Response(404)
        )

    def publish(self, name: str, *keys: Key) -> None:
        self.sets[name] = [key.jwk() for key in keys]

    def run(self, work: Any) -> Any:
        return self.runner.run(work)

    def get(self, url: str, **more: Any) -> httpx.Response:
        answer: httpx.Response = self.run(self.http.get(url, **more))
        return answer

    def post(self, url: str, **more: Any) -> httpx.Response:
        answer: httpx.Response = self.run(self.http.post(url, **more))
        return answer

    def script(self, client_id: str = "one", login: str | None = None, **fields: Any) -> None:
        self.merchant.clients.follow(client_id, login, parse_script(fields, PARAMETERS))

    # The token endpoint

    def claims(self, **claims: Any) -> dict[str, Any]:
        usual = {
            "iss": "one",
            "sub": ALICE,
            "aud": self.places.token_endpoint,
            "iat": int(self.now),
            "exp": int(self.now) + 60,
            "act": {"client_id": "agent-1", "chain": [{"sub": "agent-0"}]},
        }
        return {name: value for name, value in {**usual, **claims}.items() if value is not None}

    def assertion(self, key: Key | None = None, **claims: Any) -> str:
        return (key or self.keys["one"]).sign(self.claims(**claims))

    def client_assertion(self, name: str = "one", key: Key | None = None, **claims: Any) -> dict[str, str]:
        about = self.claims(iss=name, sub=name, act=None, **claims)
        signed = (key or self.keys[name]).sign(about)
        return {"client_assertion_type": CLIENT_ASSERTION, "client_assertion": signed}

    def token(self, **form: Any) -> httpx.Response:
        return self.post(self.places.token_endpoint, data=form)

    def provision(self, assertion: str | None = None, **form: Any) -> httpx.Response:
        return self.token(grant_type=JWT_BEARER, assertion=assertion or self.assertion(), **form)

    def refresh(self, token: str, **form: Any) -> httpx.Response:
        return self.token(grant_type="refresh_token", refresh_token=token, **form)

    def orders(self, token: str) -> httpx.Response:
        return self.get(f"{self.places.api_url}/orders", headers={"authorization": f"Bearer {token}"})

    # Signing in

    def open_form(self, **query: Any) -> httpx.Response:
        usual = {
            "response_type": "code",
            "client_id": "one",
            "redirect_uri": CALLBACK,
            "scope": "openid orders:read",
            "state": "s-1",
        }
        wanted = {name: value for name, value in {**usual, **query}.items() if value is not None}
        answer = self.get(self.places.authorization_endpoint, params=wanted)
        if answer.is_redirect and answer.headers["location"].startswith("/"):
            answer = self.get(answer.headers["location"])
        return answer

    def submit(
        self, page: httpx.Response, username: str = ALICE, password: str = ALICE_PASSWORD
    ) -> httpx.Response:
        form = LexborHTMLParser(page.text).css_first("form")
        inputs = {
            str(field.attributes["name"]): field.attributes.get("value") or ""
            for field in form.css("input")
            if field.attributes.get("name")
        }
        action = urljoin(self.places.sign_in, str(form.attributes["action"]))
        return self.post(action, data={**inputs, "username": username, "password": password})

    def landed(self, answer: httpx.Response) -> dict[str, str]:
        """The query of the address that the browser is sent to."""
        assert answer.status_code in (302, 303)
        location = answer.headers["location"]
        assert location.startswith(CALLBACK)
        return dict(parse_qsl(urlsplit(location).query, keep_blank_values=True, errors="surrogateescape"))

    def code(self, **query: Any) -> str:
        return self.landed(self.submit(self.open_form(**query)))["code"]

    def exchange(self, code: str, **form: Any) -> httpx.Response:
        wanted = {"client_id": "one", "redirect_uri": CALLBACK, **form}
        given = {name: value for name, value in wanted.items() if value is not None}
        return self.token(grant_type="authorization_code", code=code, **given)

    def s256(self, verifier: str) -> str:
        return base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).rstrip(b"=").decode()

    def key(self, algorithm: str = "ES256", kid: str | None = "k9") -> Key:
        return Key(algorithm, kid)

    def close(self) -> None:
        self.run(self.http.aclose())
        self.run(self.gateway.aclose())
        self.runner.close()


@pytest.fixture
def make_world() -> Iterator[Any]:
    made: list[World] = []

    def make(**settings: Any) -> World:
        made.append(World(**settings))
        return made[-1]

    yield make
    for world in made:
        world.close()


@pytest.fixture
def world(make_world: Any) -> Any:
    return make_world()


@pytest.fixture(params=range(6))
def any_world(make_world: Any, request: pytest.FixtureRequest) -> Any:
    """Worlds of several seeds: a promise holds whatever the seed."""
    return make_world(seed=request.param)
