"""Searches a service's answers for secrets that no agent may get."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable

from gateproof.conformance.kit.gateway.received import LOGGED, Leak, RunTotals
from gateproof.conformance.kit.service.world import ServiceWorld
from gateproof.conformance.wire import leaks
from gateproof.conformance.wire.exchange import Exchange
from gateproof.conformance.wire.leak_places import place_in_body

MERCHANT_TOKEN, PROXY_TOKEN = "merchant_access_token", "proxy_token"
# How many leaks of one kind are kept: a service that leaks in every answer would give thousands.
MOST_OF_A_KIND = 20
# Kinds of secrets that must not be in the log.
LOGGED_TOKEN = "access_token"  # noqa: S105 - a kind of secret
PROXY_SECRET, PROXY_ID = "proxy_client_secret", "proxy_client_id"
# Credentials of the backend that must not be in the log either.
BACKEND_SECRETS = (MERCHANT_TOKEN, PROXY_TOKEN, PROXY_SECRET)


class ServiceReceived:
    """Every answer of the service, and the secrets that the world issued.

    All answers go to the agent's side, so none of these secrets may be in any of them.
    """

    def __init__(self, world: ServiceWorld) -> None:
        self._world = world
        self._check = ""
        self._kept: list[tuple[str, Exchange]] = []

    def begin(self, check: str) -> None:
        self._check = check

    def note(self, exchange: Exchange) -> None:
        self._kept.append((self._check, exchange))

    def secrets(self) -> dict[str, list[str]]:
        """All secrets that the service's backend got so far, by kind."""
        gateway = self._world.gateway
        return {
            MERCHANT_TOKEN: list(gateway.merchant_tokens),
            PROXY_TOKEN: [token.value for token in gateway.proxy_tokens],
            PROXY_SECRET: [gateway.setup.proxy_client_secret],
            PROXY_ID: [gateway.setup.proxy_client_id],
        }

    def leaks_of(self, exchanges: Iterable[Exchange], *kinds: str) -> list[Leak]:
        """The secrets of these kinds in these answers."""
        canary_set = self._canary_set(kinds)
        return [leak for each in exchanges for leak in _found(canary_set, self._check, each)]

    def search_for(self, *kinds: str) -> Callable[[str], list[leaks.Found]]:
        """Searches a text for the secrets of these kinds so far, in any encoding."""
        return self._canary_set(kinds).search

    def survey(self) -> RunTotals:
        """Searches all answers and the log, and returns the totals."""
        secrets = self.secrets()
        canary_set, issued = self._canary_set(secrets), self._world.gateway.access_tokens()
        log, whole = self._world.log(), not self._world.missing_logs()
        return RunTotals(
            answers=sum(exchange.answer is not None for _, exchange in self._kept),
            known={
                **{kind: len(values) for kind, values in secrets.items()},
                LOGGED_TOKEN: len(issued),
                LOGGED: len(log.strip()) if whole else 0,
            },
            redeemed=len(secrets[MERCHANT_TOKEN]),
            leaks=[
                *(_logged(each.kind, each.how) for each in in_the_log(issued, log)[:4]),
                *_a_few_of_each(
                    _logged(kind_in_the_log(each.kind), each.how)
                    for each in self.search_for(*BACKEND_SECRETS)(log)
                ),
                *_a_few_of_each(
                    leak for check, exchange in self._kept for leak in _found(canary_set, check, exchange)
                ),
            ],
        )

    def _canary_set(self, kinds: Iterable[str]) -> leaks.CanarySet:
        wanted = set(kinds)
        named = (leaks.name(kind, value) for kind, value in self._pairs(wanted & {PROXY_ID}))
        whole = [leaks.canary(kind, value) for kind, value in self._pairs(wanted - {PROXY_ID})]
        return leaks.CanarySet([*whole, *(each for each in named if each is not None)])

    def _pairs(self, kinds: set[str]) -> list[tuple[str, str]]:
        return [
            (kind, value)
            for kind, values in self.secrets().items()
            if kind in kinds
            for value in values
            if value
        ]


def in_the_log(tokens: Iterable[str], log: str) -> list[leaks.Found]:
    """Access tokens in the log in a readable form."""
    canary_set = leaks.CanarySet([leaks.canary(LOGGED_TOKEN, token) for token in tokens])
    return [each for each in canary_set.search(log) if each.how in leaks.PLAIN]


def kind_in_the_log(kind: str) -> str:
    """The kind of a leak in the log: another one than that of a leak in an answer."""
    return f"{kind}_in_the_log"


def _a_few_of_each(found: Iterable[Leak]) -> list[Leak]:
    counted = Counter[str]()
    kept = []
    for leak in found:
        counted[leak.kind] += 1
        if counted[leak.kind] <= MOST_OF_A_KIND:
            kept.append(leak)
    return kept


def _logged(kind: str, how: str) -> Leak:
    return Leak(
        kind=kind,
        check="the whole run",
        step="log",
        party="log",
        part="log",
        how=how,
        status=None,
    )


def _found(canary_set: leaks.CanarySet, check: str, exchange: Exchange) -> list[Leak]:
    hits = [(part, each) for part, text in leaks.received(exchange) for each in canary_set.search(text)]
    asked = leaks.sent(exchange) if hits else ""
    return [
        Leak(
            kind=each.kind,
            check=check,
            step=exchange.step,
            party="agent",
            part=_part(part, exchange, each.value),
            how=each.how,
            status=exchange.status or None,
        )
        for part, each in hits
        # A value that the request itself contained is no leak.
        if each.value not in asked
    ]


def _part(part: str, exchange: Exchange, value: str) -> str:
    """The part of the answer; for a body, also the place in it."""
    if part != "body" or exchange.answer is None:
        return part
    named = leaks.name("", value)
    alone = leaks.CanarySet([leaks.canary("", value), *([named] if named is not None else [])])
    return place_in_body(exchange.answer, lambda piece: bool(alone.search(piece)))
