"""Gateways that take two steps where one is needed, and let others in between."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from starlette.types import ASGIApp

from gateproof.reference.defects.gateway.row import defect
from gateproof.reference.deviations.altered_answers import Answered, Asked, meddling
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
# What a query takes, what a write takes, how long a cache holds, and how far a replica is behind.
# A cache holds for longer than a slow machine takes to ask again.
QUERY_S, WRITTEN_S, CACHED_S, BEHIND_S = 0.005, 0.03, 4.0, 4.0


def looked_at_then_marked(seconds: float) -> SpendCode:
    """The code is looked at, and marked as used after this long; 0 lets others in just once."""

    async def spend(codes: Codes, key: str, checks: Checks, facts: CodeFacts) -> Code | CodeRefused:
        code = codes.get(key)
        refusal = first_refusal(checks, replace(facts, code=code))
        await asyncio.sleep(seconds)
        outcome = await honest.spend_code(codes, key, checks, facts)
        return code if code is not None and refusal is None else outcome

    return spend


def marked_in_the_background() -> SpendCode:
    """The tokens are made at once, and the code is marked by a task that comes after."""
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
    """What the exchange at hand is about stands in one place for all of them, over one await."""
    current: list[Code | CodeRefused] = []

    async def spend(codes: Codes, key: str, checks: Checks, facts: CodeFacts) -> Code | CodeRefused:
        current[:] = [await honest.spend_code(codes, key, checks, facts)]
        await asyncio.sleep(0)
        return current[0]

    return spend


class LastSignIn(Expiring[SignIn]):
    """Whatever sign-in is asked for, the one that was begun last comes."""

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
    """A subject that was made a moment ago is not there yet, and another one is made."""
    made: dict[tuple[str, str], float] = {}

    def read(subjects: Mapping[tuple[str, str], str], project_id: str, login_id: str, ids: Ids) -> str:
        place, now = (project_id, login_id), time.monotonic()
        if now - made.setdefault(place, now) < BEHIND_S:
            return subject({}, project_id, login_id, ids)
        return subject(subjects, project_id, login_id, ids)

    return read


async def standings_written_back(asked: Asked, answered: Answered, gateway: Gateway) -> Answered:
    """That an agent was found Pending is written down once its user's page has been made."""
    if asked.path.endswith(("/sign-in/callback", "/oauth2/auth")):
        held = [place for place, standing in gateway.store.standings.items() if standing == "pending"]
        await asyncio.sleep(WRITTEN_S)
        gateway.store.standings.update(dict.fromkeys(held, "pending"))
    return answered


async def agents_written_back(asked: Asked, answered: Answered, gateway: Gateway) -> Answered:
    """A registration writes all agents back as they were when it came, and its own."""
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

    return meddling(change)


def named_by_the_clock(facts: RegistrationFacts, ids: Ids, now: float) -> NewAgent:
    """Two agents of one millisecond are one."""
    new = new_agent(facts, ids, now)
    return replace(new, agent=replace(new.agent, id=f"agent_{int(now * 1000)}"))


async def clients_written_back(asked: Asked, answered: Answered, gateway: Gateway) -> Answered:
    """Each Proxy token request writes the clients back as it read them, with the time of its own last use."""
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
    """That a Proxy client stands is looked at once in a while."""
    seen: dict[str, float] = {}

    def stands(facts: RedemptionFacts) -> Refusal | None:
        now, name = time.monotonic(), facts.proxy_token.client_id if facts.proxy_token else ""
        if now - seen.get(name, 0.0) < CACHED_S:
            return None
        refusal = redemption.proxy_client_still_stands(facts)
        if refusal is None:
            seen[name] = now
        return refusal

    checks = tuple(
        stands if check is redemption.proxy_client_still_stands else check
        for check in redemption.REDEMPTION_CHECKS
    )
    return {"redemption_checks": checks, "redemption_rechecks": checks}


class TokensEndWithTheirClient(dict[str, ProxyClient]):
    """The Proxy clients; revoking one takes the tokens that it has by then out of their table."""

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
    """A redemption looks for the Proxy token alone, and a new one takes this long to be stored."""

    async def stored_later(asked: Asked, answered: Answered, gateway: Gateway) -> Answered:
        if asked.path.endswith("/oauth2/token") and answered.status == 200:
            key, tokens = fingerprint(json.loads(answered.body)["access_token"]), gateway.store.proxy_tokens
            if (token := tokens.take(key)) is not None:
                await asyncio.sleep(seconds)
                tokens.add(key, token, gateway.clock.now())
        return answered

    def around(app: ASGIApp, gateway: Gateway) -> ASGIApp:
        gateway.store.proxy_clients = TokensEndWithTheirClient(gateway.store)
        return meddling(stored_later)(app, gateway)

    left_out = redemption.proxy_client_still_stands
    checks = tuple(each for each in redemption.REDEMPTION_CHECKS if each is not left_out)
    return {"around": around, "redemption_checks": checks, "redemption_rechecks": checks}


DEFECTS = (
    defect(
        "code-marked-a-moment-later (CODE-10): Whether a code was used is looked at before it is marked, "
        "with one await in between.",
        spend_code=looked_at_then_marked(0),
    ),
    defect(
        "code-marked-after-a-query (CODE-10): Whether a code was used is looked at before it is marked, "
        "with a query to a database in between.",
        spend_code=looked_at_then_marked(QUERY_S),
    ),
    defect(
        "code-marked-in-the-background (CODE-10): A code is marked as used by a task that runs once its "
        "tokens are made.",
        spend_code=marked_in_the_background(),
    ),
    defect(
        "exchange-in-a-global (CLAIM-03 REDEEM-12): Whose code is being exchanged stands in a global over "
        "one await.",
        spend_code=code_in_a_global(),
    ),
    defect(
        "sign-in-in-a-global (AUTHZ-01 CLAIM-03 REDEEM-12 AUTHZ-08): The sign-in that was begun last is "
        "taken for everybody's.",
        around=sign_in_in_a_global,
    ),
    defect(
        "subject-from-a-replica (CLAIM-03 ROBUST-04): A user who signs in twice at once is given two "
        "subjects.",
        subject=subject_from_a_replica(),
    ),
    defect(
        "standings-written-back (AUTHZ-08): A sign-in undoes an approval that came while it went on.",
        around=meddling(standings_written_back),
    ),
    defect(
        "registrations-written-back (REG-09): Of registrations at the same moment the last to be written "
        "wins, with one await in between.",
        around=meddling(agents_written_back),
    ),
    defect(
        "registration-answer-in-a-global (REG-09): Of registrations at the same moment each is answered "
        "with the last, with one await in between.",
        around=answer_of_the_last_registration(),
    ),
    defect(
        "client-id-from-the-clock (REG-09): Agents that register in the same millisecond share a client_id.",
        new_agent=named_by_the_clock,
    ),
    defect(
        "proxy-clients-written-back (PROXY-04): A Proxy token request undoes a revocation that came while "
        "it went on.",
        around=meddling(clients_written_back),
    ),
    defect(
        "proxy-clients-from-a-cache (PROXY-04 ROBUST-04): A Proxy client is read from a cache that a "
        "revocation does not reach.",
        proxy_client_named=clients_from_a_cache(),
    ),
    defect(
        "revocation-from-a-cache (REDEEM-06 ROBUST-04): Whether a Proxy client stands is cached for a "
        "moment at redemption.",
        **standing_from_a_cache(),
    ),
    defect(
        "proxy-token-stored-after-a-query (REDEEM-06): Revoking a Proxy client ends the tokens that are "
        "stored; one that is being stored then stays good.",
        **proxy_token_stored_after(QUERY_S),
    ),
    defect(
        "proxy-token-stored-slowly (REDEEM-06): Revoking a Proxy client ends the tokens that are stored; "
        "storing one takes a while, and it stays good.",
        **proxy_token_stored_after(WRITTEN_S),
    ),
)
