"""Agents made with the official MCP SDK meet services behind the gateway: what each does, where it stops.

Reads addresses as JSON on stdin and prints what came of each trial as JSON. No token, code or secret is in
what it prints: requests are shown by method, address and the names of what they carry. `trial.py` calls it.
"""

from __future__ import annotations

import json
import logging
import ssl
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

import anyio
import httpx2
from by_the_letter import PinnedIssuer, ScopelessMetadata
from mcp.client.auth import OAuthClientProvider, TokenStorage
from mcp.client.client import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.auth import (
    AuthorizationCodeResult,
    OAuthClientInformationFull,
    OAuthClientMetadata,
    OAuthMetadata,
    OAuthToken,
)
from pydantic import AnyUrl

TRIAL_LIMIT_S = 60


class Memory:
    """The SDK's token storage, in memory."""

    def __init__(self) -> None:
        self.tokens: OAuthToken | None = None
        self.client: OAuthClientInformationFull | None = None

    async def get_tokens(self) -> OAuthToken | None:
        return self.tokens

    async def set_tokens(self, tokens: OAuthToken) -> None:
        self.tokens = tokens

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        return self.client

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        self.client = client_info


@dataclass(frozen=True, kw_only=True, slots=True)
class World:
    """Where everything is, and who signs in."""

    ca_file: str
    sign_in: tuple[str, ...]
    user: Mapping[str, str]
    issuer: str
    discovery_url: str
    callback: str
    services: Mapping[str, str]
    places: Mapping[str, str]

    def masked(self, text: str) -> str:
        """The text with the placeholders of the specification instead of this run's addresses."""
        for address, placeholder in self.places.items():
            text = text.replace(address, placeholder)
        return text


@dataclass(frozen=True, kw_only=True, slots=True)
class Trial:
    """One way to set up an agent, and the service that it is pointed at."""

    name: str
    service: str = "plain"
    pinned: bool = False
    conforming: bool = False
    callback: str | None = None
    hands_over_iss: bool = True
    preset: bool = False
    keeps_tokens_of: str | None = None
    spoils_token: bool = False
    then_expires: bool = False


TRIALS = (
    Trial(name="unchanged"),
    Trial(name="preset-metadata", preset=True),
    Trial(name="core-first", service="core-first"),
    Trial(name="facade", service="facade"),
    Trial(name="facade-without-iss", service="facade", hands_over_iss=False),
    Trial(name="second-document", service="second-document"),
    Trial(name="pinned", pinned=True, then_expires=True),
    Trial(name="pinned-loopback-redirect", pinned=True, callback="http://localhost:3030/callback"),
    Trial(name="pinned-narrow-scopes", service="narrow-scopes", pinned=True),
    Trial(name="pinned-conforming", pinned=True, conforming=True),
    Trial(name="given-tokens", keeps_tokens_of="pinned-conforming"),
    Trial(name="given-tokens-refused", keeps_tokens_of="pinned-conforming", spoils_token=True),
)


@dataclass(kw_only=True, slots=True)
class Outcome:
    """What came of a trial."""

    trial: str
    orders: list[str] = field(default_factory=list)
    orders_after_refresh: list[str] = field(default_factory=list)
    stopped: str = ""
    protocol: str = ""
    requests: list[str] = field(default_factory=list)


class Agent:
    """One run of an agent that wants the user's orders and knows the service's address alone."""

    def __init__(self, trial: Trial, world: World, memory: Memory, trust: ssl.SSLContext) -> None:
        self.trial = trial
        self.world = world
        self.memory = memory
        self.outcome = Outcome(trial=trial.name)
        self._trust = trust
        self._redirected_to = ""
        self._callback = trial.callback or world.callback
        self._url = f"{world.services[trial.service]}/mcp"

    async def run(self) -> Outcome:
        provider = self._provider()
        if self.trial.preset:
            await self._preset(provider)
        if self.trial.spoils_token and self.memory.tokens is not None:
            # The last character of a signature may hold unused bits; the one before it holds none.
            token = self.memory.tokens.access_token
            other = "A" if token[-2] != "A" else "B"
            spoiled = {"access_token": token[:-2] + other + token[-1]}
            self.memory.tokens = self.memory.tokens.model_copy(update=spoiled)
        with failures_of_the_flow() as failures:
            try:
                with anyio.fail_after(TRIAL_LIMIT_S):
                    await self._call(provider)
            except Exception as error:  # noqa: BLE001 - whatever the SDK ends with is the finding
                failures.append(error)
        if failures:
            self.outcome.stopped = self.world.masked(f"{type(failures[0]).__name__}: {failures[0]}")
        return self.outcome

    async def _call(self, provider: OAuthClientProvider) -> None:
        async with (
            self._http(provider) as http,
            Client(streamable_http_client(self._url, http_client=http)) as session,
        ):
            self.outcome.protocol = session.protocol_version
            self.outcome.orders = orders_in(await session.call_tool("list_orders"))
            if self.trial.then_expires:
                self._note("(the agent takes its access token for expired)")
                provider.context.token_expiry_time = time.time() - 1
                self.outcome.orders_after_refresh = orders_in(await session.call_tool("list_orders"))

    def _provider(self) -> OAuthClientProvider:
        storage: TokenStorage = self.memory
        given = {
            "server_url": self._url,
            "client_metadata": self._metadata(),
            "storage": storage,
            "redirect_handler": self._open,
            "callback_handler": self._came_back,
        }
        if self.trial.pinned:
            return PinnedIssuer(**given, issuer=self.world.issuer)
        return OAuthClientProvider(**given)

    def _metadata(self) -> OAuthClientMetadata:
        uris = [AnyUrl(self._callback)]
        if self.trial.conforming:
            return ScopelessMetadata(
                client_name="an agent",
                redirect_uris=uris,
                token_endpoint_auth_method="client_secret_post",
                application_type="web",
            )
        return OAuthClientMetadata(client_name="an agent", redirect_uris=uris)

    async def _preset(self, provider: OAuthClientProvider) -> None:
        async with self._http(None) as http:
            answer = await http.get(self.world.discovery_url)
        provider.context.oauth_metadata = OAuthMetadata.model_validate_json(answer.content)
        provider.context.auth_server_url = self.world.issuer

    async def _open(self, url: str) -> None:
        """The browser's part; what an agent may do to the address before it opens it is done here."""
        if self.trial.conforming:
            # A plus sign that is data is %2B here, so these can only be spaces.
            url = url.replace("+", "%20")
        self._note(f"browser GET {url.partition('?')[0]} [{shown_query(url)}]")
        asked = {
            "authorization_url": url,
            "redirect_uri": self._callback,
            "user": dict(self.world.user),
            "approve": True,
        }
        done = await anyio.run_process(
            self.world.sign_in, input=json.dumps(asked).encode(), stderr=subprocess.DEVNULL
        )
        self._redirected_to = json.loads(done.stdout)["redirected_to"] or ""

    async def _came_back(self) -> AuthorizationCodeResult:
        query = parse_qs(urlsplit(self._redirected_to).query)
        carried = {name: values[0] for name, values in query.items()}
        self._note(f"browser came back [{' '.join(sorted(carried))}]")
        if "code" not in carried:
            raise RuntimeError(f"no code came back: {carried.get('error', 'nothing')}")
        return AuthorizationCodeResult(
            code=carried["code"],
            state=carried.get("state"),
            iss=carried.get("iss") if self.trial.hands_over_iss else None,
        )

    def _http(self, auth: httpx2.Auth | None) -> httpx2.AsyncClient:
        return httpx2.AsyncClient(
            auth=auth, verify=self._trust, trust_env=False, timeout=30, event_hooks={"response": [self._saw]}
        )

    async def _saw(self, response: httpx2.Response) -> None:
        request = response.request
        path = str(request.url.copy_with(query=None))
        self._note(f"{request.method} {path} {response.status_code}{carried_by(request)}")

    def _note(self, text: str) -> None:
        text = self.world.masked(text)
        if text not in self.outcome.requests[-1:]:
            self.outcome.requests.append(text)


def shown_query(url: str) -> str:
    """The names in a query, with those values that are no secret and say something, as they were written."""
    telling = ("code_challenge_method", "resource", "response_type", "scope")
    pairs = [pair.partition("=") for pair in urlsplit(url).query.split("&")]
    shown = [
        f"{name}={unquote(value) if name == 'resource' else value}" if name in telling else name
        for name, _, value in pairs
    ]
    return " ".join(sorted(shown))


def carried_by(request: httpx2.Request) -> str:
    """The names of what a registration or token request carries, and nothing of its values but the grant."""
    if request.url.path.endswith("/mcp") or request.method != "POST":
        return ""
    if request.headers.get("content-type", "").startswith("application/json"):
        return f" [{' '.join(sorted(json.loads(request.content)))}]"
    form = parse_qs(request.content.decode())
    return f" [grant_type={form['grant_type'][0]} {' '.join(sorted(form.keys() - {'grant_type'}))}]"


def orders_in(result: Any) -> list[str]:
    """The ids of the orders in a tool's answer."""
    if result.is_error:
        raise RuntimeError("the tool answered with an error")
    return [order["id"] for order in result.structured_content["result"]]


@contextmanager
def failures_of_the_flow() -> Iterator[list[BaseException]]:
    """What the SDK's flow raised, which its session may report as something else."""
    found: list[BaseException] = []

    class Keeper(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            if record.exc_info and record.exc_info[1] is not None:
                found.append(record.exc_info[1])

    logger, keeper = logging.getLogger("mcp.client.auth.oauth2"), Keeper()
    logger.addHandler(keeper)
    try:
        yield found
    finally:
        logger.removeHandler(keeper)


async def run(world: World, wanted: Callable[[str], bool]) -> list[Outcome]:
    trust = ssl.create_default_context(cafile=world.ca_file)
    memories: dict[str, Memory] = {}
    outcomes = []
    for trial in TRIALS:
        if not wanted(trial.name):
            continue
        memories[trial.name] = memories[trial.keeps_tokens_of] if trial.keeps_tokens_of else Memory()
        outcomes.append(await Agent(trial, world, memories[trial.name], trust).run())
    return outcomes


def main() -> int:
    # The SDK logs the whole failure of a flow, and this program prints it.
    logging.getLogger("mcp").propagate = False
    given = json.load(sys.stdin)
    world = World(**{**given, "sign_in": tuple(given["sign_in"])})
    only = set(sys.argv[1:])
    outcomes = anyio.run(run, world, lambda name: not only or name in only)
    json.dump([{name: getattr(each, name) for name in Outcome.__slots__} for each in outcomes], sys.stdout)
    return 0


if __name__ == "__main__":
    sys.exit(main())
