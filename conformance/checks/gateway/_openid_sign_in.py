"""Sign-ins by OpenID Connect at the fake merchant, whose answers are scripted."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from gateproof.conformance.kit.gateway.codes import require_code
from gateproof.conformance.kit.gateway.gateway import Visit
from gateproof.conformance.kit.gateway.isolated_user import IsolatedUser, isolated_user
from gateproof.conformance.kit.gateway.world import World
from gateproof.conformance.suite.claims import LeftOut
from gateproof.conformance.suite.parties import Agent, Attempt, User
from gateproof.conformance.suite.pauses import Cause, wait_for
from gateproof.conformance.suite.time_limits import BREAKER_S, PROVISIONING_S
from gateproof.conformance.wire.exchange import Exchange
from gateproof.conformance.wire.jose import read
from gateproof.fakes.merchant.records import JournalEntry

CODE_GRANT = "authorization_code"
_ASSERTION_GRANTS = ("jwt-bearer", "token-exchange")
# The pause between sign-ins while the gateway's circuit breaker may be open.
_PAUSE_S = 1.0


@dataclass(frozen=True, kw_only=True, slots=True)
class OpenIdSignIn:
    """A user who has signed in once without a script, and the gateway's authorization request for it."""

    alone: IsolatedUser
    asked: JournalEntry
    reads_userinfo: bool
    # The number of the last secret that the merchant had issued before.
    minted_before: int

    @property
    def asks_for_id_token(self) -> bool:
        return "openid" in self.asked.sent.get("scope", "").split()

    @property
    def sends_nonce(self) -> bool:
        return bool(self.asked.sent.get("nonce"))

    def again(self, **script: Any) -> SecondSignIn:
        """The user signs in in a new browser, for a new agent, while the merchant follows this script."""
        alone = self.alone
        after = max((entry.ordinal for entry in alone.received()), default=alone.since)
        seen = len(alone.world.seen())
        alone.script(**script)
        attempt, visit = _signed_in(alone)
        return SecondSignIn(alone=alone, attempt=attempt, visit=visit, after=after, seen=seen)


@dataclass(frozen=True, kw_only=True, slots=True)
class SecondSignIn:
    """The result of a scripted sign-in, and the requests that the merchant has received since."""

    alone: IsolatedUser
    attempt: Attempt
    visit: Visit
    after: int
    # The number of exchanges before the sign-in.
    seen: int

    def received(self, *logins: str) -> list[JournalEntry]:
        """The requests that the merchant received for this user, or for these logins."""
        wanted = logins or (self.alone.user.login,)
        return [
            entry for entry in self.alone.received() if entry.ordinal > self.after and entry.login in wanted
        ]

    def sent_nonce(self) -> str | None:
        """The nonce of the gateway's last authorization request at the merchant."""
        since = [entry for entry in self.alone.received() if entry.ordinal > self.after]
        asked = [entry for entry in since if entry.endpoint == "authorization"]
        return asked[-1].sent.get("nonce") if asked else None

    def met(self, outcome: str) -> bool:
        """True if the merchant answered the gateway or the browser with this outcome."""
        # The journal has no login for a refused password.
        since = (entry for entry in self.alone.received() if entry.ordinal > self.after)
        return any(entry.outcome == outcome for entry in since)

    def exchanged(self) -> bool:
        """True if the gateway got tokens for the merchant's code."""
        return any(entry.grant == CODE_GRANT and entry.status == 200 for entry in self.received())

    def read_userinfo(self) -> bool:
        return any(entry.endpoint == "userinfo" for entry in self.received())

    def is_about(self, other: User) -> bool:
        """True if the gateway signed `other` in: its assertion, its token or its page names that user.

        Some gateways send the assertion in the background, so this waits for the first one.
        """
        world, code = self.alone.world, self.visit.parameter("code")
        answers: list[Exchange] = []
        if code is not None:
            answers.append(world.gateway.exchange(world.authorization_of(self.attempt, code)))
        both = (self.alone.user.login, other.login)
        named = [entry.login for entry in _asserted(lambda: self.received(*both))]
        if any(login == other.login for login in named):
            return True
        seen = [*world.seen()[self.seen :], *answers]
        return any(other.name in text for exchange in seen for text in _texts(exchange))


def _asserted(received: Callable[[], list[JournalEntry]]) -> list[JournalEntry]:
    deadline = time.monotonic() + PROVISIONING_S
    while True:
        found = [entry for entry in received() if (entry.grant or "").endswith(_ASSERTION_GRANTS)]
        if found or time.monotonic() > deadline:
            return found
        wait_for(Cause.REQUEST, 0.05)


def _texts(exchange: Exchange) -> Iterator[str]:
    """The body of an answer of the gateway, and the claims of the tokens in it."""
    if exchange.answer is None:
        return
    yield exchange.answer.text()
    for name in ("access_token", "id_token"):
        token = exchange.member(name)
        parsed = read(token) if isinstance(token, str) else None
        if parsed is not None:
            yield str(parsed.claims)


def openid_sign_in(world: World) -> OpenIdSignIn:
    """Signs an isolated user in; left out if the gateway does not use OpenID Connect at the fake merchant."""
    alone = isolated_user(world, own=True)
    minted_before = alone.merchant.last_minted()
    _, visit = _signed_in(alone)
    require_code(world.gateway, visit)
    received = alone.received()
    asked = [entry for entry in received if entry.endpoint == "authorization"]
    grants = [entry.grant for entry in alone.journal() if entry.status == 200]
    if not asked or CODE_GRANT not in grants:
        raise LeftOut("the gateway does not sign users in by OpenID Connect at the harness's merchant")
    reads_userinfo = any(entry.endpoint == "userinfo" for entry in alone.journal())
    return OpenIdSignIn(
        alone=alone, asked=asked[-1], reads_userinfo=reads_userinfo, minted_before=minted_before
    )


def end_merchant_backoff(alone: IsolatedUser) -> None:
    """Waits until the user can sign in again: the gateway's circuit breaker may be open.

    This is not a claim. It keeps the following checks from failing because of the open circuit breaker.
    """
    alone.script()
    worker_state, deadline = alone.world.worker_state, time.monotonic() + BREAKER_S
    agent = alone.world.agents.new()
    while not worker_state.backoff_wait_failed and not _signed_in(alone, agent)[1].codes():
        worker_state.backoff_wait_failed = time.monotonic() > deadline
        wait_for(Cause.RECOVERY, _PAUSE_S)


def _signed_in(alone: IsolatedUser, agent: Agent | None = None) -> tuple[Attempt, Visit]:
    attempt = alone.world.attempt(agent, resource=alone.resource, user=alone.user)
    return attempt, alone.world.gateway.visit(attempt, wherever=True)
