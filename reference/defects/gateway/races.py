"""Gateways with race conditions: a step that has to be atomic can be interrupted by other requests."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from starlette.types import ASGIApp

from gateproof.reference.defects.gateway.row import defect
from gateproof.reference.deviations.altered_answers import Answered, Asked, altering_answers
from gateproof.reference.gateway.gateway import Gateway
from gateproof.reference.gateway.policies import SpendCode
from gateproof.reference.gateway.policy import code_exchange as honest
from gateproof.reference.gateway.policy import proxy, redemption
from gateproof.reference.gateway.policy.code_exchange import CodeFacts, CodeRefused
from gateproof.reference.gateway.policy.proxy import ProxyCredentials
from gateproof.reference.gateway.policy.redemption import RedemptionFacts
from gateproof.reference.gateway.policy.registration import NewAgent, RegistrationFacts, new_agent
from gateproof.reference.gateway.policy.token_claims import subject
from gateproof.reference.gateway.records import Code, ProxyClient, SignIn
from gateproof.reference.gateway.store import Expiring, Store
from gateproof.reference.ids import Ids, fingerprint
from gateproof.reference.outcomes import Refusal, first_refusal

Codes = Expiring[Code]
Checks = tuple[honest.CodeCheck, ...]
Around = Callable[[ASGIApp, Gateway], ASGIApp]
# Durations of a query, of a write, of a cache entry, and of the lag of a replica.
# A cache entry lives longer than a slow machine needs until it sends the next request.
QUERY_S, WRITTEN_S, CACHED_S, BEHIND_S = 0.005, 0.03, 4.0, 4.0


def looked_at_then_marked(seconds: float) -> SpendCode:
    """Checks the code and marks it as used after this delay; 0 means a single await."""

    async def spend(codes: Codes, key: str, checks: Checks, facts: CodeFacts) -> Code | CodeRefused:
        code = codes.get(key)
        refusal = first_refusal(checks, replace(facts, code=code))
        await asyncio.sleep(seconds)
        outcome = await honest.spend_code(codes, key, checks, facts)
        return code if code is not None and refusal is None else outcome

    return spend


def marked_in_the_background() -> SpendCode:
    """Returns the code at once; a later task marks it as used."""
    marking: set[asyncio.Task[Any]] = set()

    async def spend(codes: Codes, key: str, checks: Checks, facts: CodeFacts) -> Code | CodeRefused:
        code = codes.get(key)
        if code is None or first_refusal(checks, replace(facts, code=code)):
            return await honest.spend_code(codes, key, checks, facts)
        task = asyncio.create_task(honest.spend_code(codes, key, checks, facts))
        marking.add(task)
        task.add_done_callback(marking.discard)
        return code

    return spend


def code_in_a_global() -> SpendCode:
    """Keeps the result of the current exchange in one variable for all requests, across one await."""
    current: list[Code | CodeRefused] = []

    async def spend(codes: Codes, key: str, checks: Checks, facts: CodeFacts) -> Code | CodeRefused:
        current[:] = [await honest.spend_code(codes, key, checks, facts)]
        await asyncio.sleep(0)
        return current[0]

    return spend


class LastSignIn(Expiring[SignIn]):
    """Returns the sign-in that was stored last, whichever is requested."""

    def __init__(self) -> None:
        super().__init__(keep_s=600)
        self._last: dict[bool, SignIn] = {}

    def add(self, key: str, value: SignIn, now: float) -> None:
        super().add(key, value, now)
        self._last[value.person is not None] = value

    def take(self, key: str) -> SignIn | None:
        own = super().take(key)
        return None if own is None else self._last[own.person is not None]


def sign_in_in_a_global(app: ASGIApp, gateway: Gateway) -> ASGIApp:
    gateway.store.sign_ins = LastSignIn()
    return app


def subject_from_a_replica() -> Callable[[Mapping[tuple[str, str], str], str, str, Ids], str]:
    """The replica does not have a new user's subject yet, so another one is created."""
    made: dict[tuple[str, str], float] = {}

    def read(subjects: Mapping[tuple[str, str], str], project_id: str, login_id: str, ids: Ids) -> str:
        place, now = (project_id, login_id), time.monotonic()
        if now - made.setdefault(place, now) < BEHIND_S:
            return subject({}, project_id, login_id, ids)
        return subject(subjects, project_id, login_id, ids)

    return read


async def standings_written_back(asked: Asked, answered: Answered, gateway: Gateway) -> Answered:
    """Pending agents are read, and written back as Pending after the page has been made."""
    if asked.path.endswith(("/sign-in/callback", "/oauth2/auth")):
        held = [place for place, standing in gateway.store.standings.items() if standing == "pending"]
        await asyncio.sleep(WRITTEN_S)
        gateway.store.standings.update(dict.fromkeys(held, "pending"))
    return answered


async def agents_written_back(asked: Asked, answered: Answered, gateway: Gateway) -> Answered:
    """A registration writes back all agents as it read them, and its own agent."""
    if asked.path.endswith("/api/register") and answered.status == 201:
        agents = gateway.store.agents
        own, agent = agents.popitem()
        written = {**agents, own: agent}
        await asyncio.sleep(0)
        agents.clear()
        agents.update(written)
    return answered


def answer_of_the_last_registration() -> Around:
    last: list[Answered] = []

    async def change(asked: Asked, answered: Answered, _: Gateway) -> Answered:
        if not asked.path.endswith("/api/register") or answered.status != 201:
            return answered
        last[:] = [answered]
        await asyncio.sleep(0)
        return last[0]

    return altering_answers(change)


def named_by_the_clock(facts: RegistrationFacts, ids: Ids, now: float) -> NewAgent:
    """Two agents of the same millisecond get the same ID."""
    new = new_agent(facts, ids, now)
    return replace(new, agent=replace(new.agent, id=f"agent_{int(now * 1000)}"))


async def clients_written_back(asked: Asked, answered: Answered, gateway: Gateway) -> Answered:
    """Each Proxy token request writes back all clients as it read them, for example to store a last use."""
    if asked.path.endswith("/oauth2/token"):
        read = dict(gateway.store.proxy_clients)
        await asyncio.sleep(QUERY_S)
        gateway.store.proxy_clients.update(read)
    return answered


def clients_from_a_cache() -> Callable[[Store, ProxyCredentials], ProxyClient | None]:
    cached: dict[str, tuple[float, ProxyClient | None]] = {}

    def named(store: Store, credentials: ProxyCredentials) -> ProxyClient | None:
        now = time.monotonic()
        read_at, client = cached.get(credentials.client_id, (0.0, None))
        if now - read_at > CACHED_S:
            client = proxy.proxy_client_named(store, credentials)
            cached[credentials.client_id] = (now, client)
        return client

    return named


def standing_from_a_cache() -> dict[str, tuple[redemption.RedemptionCheck, ...]]:
    """Checks for revocation only when the cached result of the last check is too old."""
    seen: dict[str, float] = {}

    def stands(facts: RedemptionFacts) -> Refusal | None:
        now, name = time.monotonic(), facts.proxy_token.client_id if facts.proxy_token else ""
        if now - seen.get(name, 0.0) < CACHED_S:
            return None
        refusal = redemption.proxy_client_is_not_revoked(facts)
        if refusal is None:
            seen[name] = now
        return refusal

    checks = tuple(
        stands if check is redemption.proxy_client_is_not_revoked else check
        for check in redemption.REDEMPTION_CHECKS
    )
    return {"redemption_checks": checks, "redemption_rechecks": checks}


class TokensEndWithTheirClient(dict[str, ProxyClient]):
    """The Proxy clients; the revocation of one deletes the Proxy tokens that it has at that time."""

    def __init__(self, store: Store) -> None:
        super().__init__(store.proxy_clients)
        self._tokens = store.proxy_tokens

    def __setitem__(self, name: str, client: ProxyClient) -> None:
        super().__setitem__(name, client)
        for key in list(self._tokens) if client.revoked else ():
            token = self._tokens.get(key)
            if token is not None and token.client_id == name:
                self._tokens.take(key)


def proxy_token_stored_after(seconds: float) -> dict[str, Any]:
    """A redemption checks only that the Proxy token exists; a new token is stored after this delay."""

    async def stored_later(asked: Asked, answered: Answered, gateway: Gateway) -> Answered:
        if asked.path.endswith("/oauth2/token") and answered.status == 200:
            key, tokens = fingerprint(json.loads(answered.body)["access_token"]), gateway.store.proxy_tokens
            if (token := tokens.take(key)) is not None:
                await asyncio.sleep(seconds)
                tokens.add(key, token, gateway.clock.now())
        return answered

    def around(app: ASGIApp, gateway: Gateway) -> ASGIApp:
        gateway.store.proxy_clients = TokensEndWithTheirClient(gateway.store)
        return altering_answers(stored_later)(app, gateway)

    left_out = redemption.proxy_client_is_not_revoked
    checks = tuple(each for each in redemption.REDEMPTION_CHECKS if each is not left_out)
    return {"around": around, "redemption_checks": checks, "redemption_rechecks": checks}


DEFECTS = (
    defect(
        "code-marked-a-moment-later (CODE-10): The gateway checks whether a code was used and marks it as "
        "used in two steps, with one await between them.",
        spend_code=looked_at_then_marked(0),
    ),
    defect(
        "code-marked-after-a-query (CODE-10): The gateway checks whether a code was used and marks it as "
        "used in two steps, with a database query between them.",
        spend_code=looked_at_then_marked(QUERY_S),
    ),
    defect(
        "code-marked-in-the-background (CODE-10): The gateway marks a code as used in a background task, "
        "after it has issued the tokens.",
        spend_code=marked_in_the_background(),
    ),
    defect(
        "exchange-in-a-global (CLAIM-03 REDEEM-12): The gateway keeps the code that is being exchanged in a "
        "global variable across one await, so concurrent exchanges mix up their users.",
        spend_code=code_in_a_global(),
    ),
    defect(
        "sign-in-in-a-global (AUTHZ-01 CLAIM-03 REDEEM-12 AUTHZ-08): The gateway uses the sign-in that was "
        "started last for all browsers.",
        around=sign_in_in_a_global,
    ),
    defect(
        "subject-from-a-replica (CLAIM-03 ROBUST-04): A new user who signs in twice at the same time gets "
        "two subjects.",
        subject=subject_from_a_replica(),
    ),
    defect(
        "standings-written-back (AUTHZ-08): A sign-in writes Pending back and so undoes an approval that "
        "was made in the meantime.",
        around=altering_answers(standings_written_back),
    ),
    defect(
        "registrations-written-back (REG-09): A registration writes back all agents across one await, so it "
        "deletes agents that register at the same time.",
        around=altering_answers(agents_written_back),
    ),
    defect(
        "registration-answer-in-a-global (REG-09): The gateway keeps a registration answer in a global "
        "variable across one await, so concurrent registrations get the answer of the last one.",
        around=answer_of_the_last_registration(),
    ),
    defect(
        "client-id-from-the-clock (REG-09): Agents that register in the same millisecond get the same "
        "client_id.",
        new_agent=named_by_the_clock,
    ),
    defect(
        "proxy-clients-written-back (PROXY-04): A Proxy token request writes back all Proxy clients and so "
        "undoes a revocation that was made in the meantime.",
        around=altering_answers(clients_written_back),
    ),
    defect(
        "proxy-clients-from-a-cache (PROXY-04 ROBUST-04): The token endpoint reads Proxy clients from a "
        "cache that a revocation does not invalidate.",
        proxy_client_named=clients_from_a_cache(),
    ),
    defect(
        "revocation-from-a-cache (REDEEM-06 ROBUST-04): Redemption caches for some seconds that a Proxy "
        "client is not revoked.",
        **standing_from_a_cache(),
    ),
    defect(
        "proxy-token-stored-after-a-query (REDEEM-06): Revocation deletes the Proxy client's stored tokens; "
        "a token that is being stored at that moment stays valid.",
        **proxy_token_stored_after(QUERY_S),
    ),
    defect(
        "proxy-token-stored-slowly (REDEEM-06): Revocation deletes the Proxy client's stored tokens; a "
        "token that is being stored, which takes 30 ms, stays valid.",
        **proxy_token_stored_after(WRITTEN_S),
    ),
)
