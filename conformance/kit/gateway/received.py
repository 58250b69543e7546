"""Keeps what one worker's agents, browsers and backends received, and searches it for secrets."""

from __future__ import annotations

import base64
import binascii
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from itertools import chain
from typing import Any, Protocol
from urllib.parse import unquote_plus

from gateproof.conformance.kit.gateway.control_costs import summed
from gateproof.conformance.kit.gateway.own_secrets import OwnSecrets
from gateproof.conformance.kit.gateway.recent_secrets import MOST, RecentSecrets
from gateproof.conformance.kit.gateway.redeemed_tokens import gave_a_token
from gateproof.conformance.suite.claims import repeat_with
from gateproof.conformance.targets.model import GatewayTarget
from gateproof.conformance.wire import leaks
from gateproof.conformance.wire.exchange import Answer, Exchange, Request
from gateproof.conformance.wire.route import origin
from gateproof.fakes.merchant.records import Kind, MintedToken
from gateproof.reports.replay_files import RUN

MERCHANT_KINDS = {"refresh_token": "merchant_refresh_token", "access_token": "merchant_access_token"}
# Key of the number of characters of the log that were available for the search.
LOGGED = "logged"
# This much is kept for the search at the end; with more, the search starts early.
_MOST_OCTETS = 16 * 1024 * 1024
_MOST_LEAKS = 20
# The merchant drops its oldest secrets, so its new ones are fetched after this many answers.
_ANSWERS_BETWEEN = 1000
# If more rules than this found leaks, the replay repeats the whole run.
_FEW = 3


class Mint(Protocol):
    """The part of the merchant's admin API that lists the tokens it has issued."""

    def tokens(self, kind: Kind | None = None, after: int = 0) -> list[MintedToken]: ...

    def dropped(self) -> dict[str, int]:
        """How many of its oldest tokens the merchant has dropped."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Leak:
    """A secret in a wrong place: its kind, who received it, and in which part of which response."""

    kind: str
    check: str
    step: str
    party: str
    part: str
    how: str
    status: int | None

    def said(self) -> str:
        written = "" if self.how == "as it is" else f", {self.how}"
        kind = self.kind.replace("_", " ")
        return f"{kind} in the {self.part} of an answer to the {self.party} ({self.step}{written})"


def brought_up(found: Sequence[Leak]) -> None:
    """Stores the rules whose checks received these leaks: running them reproduces the failure."""
    replayed_by(leak.check for leak in found)


def replayed_by(found: Iterable[str]) -> None:
    """Stores the rules of these checks as the replay of the failure.

    If the checks are unknown or there are many rules, the replay is the whole run.
    """
    checks = set(found)
    rules = sorted({check.partition("/")[0] for check in checks})
    known = len(rules) <= _FEW and all("/" in check for check in checks)
    repeat_with({"kind": RUN, "rules": rules if known else []})


@dataclass(kw_only=True, slots=True)
class RunTotals:
    """Totals of a whole run: answers received, secrets searched for, and what was found.

    If a part was not searched, `lost` is the reason.
    """

    answers: int = 0
    known: dict[str, int] = field(default_factory=dict)
    redeemed: int = 0
    leaks: list[Leak] = field(default_factory=list)
    lost: str = ""
    # When the merchant last failed a request of the target, by the monotonic clock, which all processes
    # share.
    merchant_failed_at: float | None = None
    # How many usual registrations the target has accepted.
    registrations: int = 0
    # How many redemptions gave an access_token.
    given: int = 0
    # Checks in which a redemption was answered with 200 and no merchant token.
    empty: list[str] = field(default_factory=list)
    # Digests of tokens that the suite sent in an address or a cookie.
    misplaced: list[str] = field(default_factory=list)
    # For each control action, its calls and the seconds they took together.
    control: dict[str, tuple[int, float]] = field(default_factory=dict)

    def add(self, other: RunTotals) -> None:
        self.redeemed += other.redeemed
        unread = any(each.answers and each.known.get(LOGGED) == 0 for each in (self, other))
        for kind, number in other.known.items():
            self.known[kind] = self.known.get(kind, 0) + number
        if unread:
            # If one log could not be searched, another one does not replace it.
            self.known[LOGGED] = 0
        self.answers += other.answers
        self.leaks += other.leaks
        self.lost = self.lost or other.lost
        known = [at for at in (self.merchant_failed_at, other.merchant_failed_at) if at is not None]
        self.merchant_failed_at = max(known, default=None)
        self.registrations += other.registrations
        self.misplaced += other.misplaced
        self.control = summed(self.control, other.control)
        self.given += other.given
        self.empty += other.empty

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, raw: Mapping[str, Any]) -> RunTotals:
        return cls(**{**raw, "leaks": [Leak(**leak) for leak in raw["leaks"]]})


class _Asked:
    """What the agents and browsers of one check sent; parsed only if it decides whether a leak counts."""

    def __init__(self) -> None:
        self._unread: list[Exchange] = []
        self._text = ""

    def add(self, exchange: Exchange) -> None:
        self._unread.append(exchange)

    def holds(self, value: str) -> bool:
        if self._unread:
            self._text = "\n".join([self._text, *(unquote_plus(leaks.sent(each)) for each in self._unread)])
            self._unread.clear()
        return value in self._text

    def keep_only(self, values: Iterable[str]) -> None:
        """Keeps only which of these values were sent: a check may send more than fits into memory."""
        self._text = "\n".join(value for value in values if self.holds(value))


@dataclass(frozen=True, kw_only=True, slots=True)
class _Kept:
    """An exchange, its check, and what this check sent from the agent's side."""

    check: str
    exchange: Exchange
    asked: _Asked


class Received:
    """Keeps the target's answers, collects the secrets that they must not contain, and searches them.

    A secret is known before it can leak, so a search for the secrets known so far is enough. Proxy tokens of
    other workers are not known here. In long campaigns, a merchant token is no longer searched for after
    `most` newer ones.
    """

    def __init__(
        self, target: GatewayTarget, mint: Mint | None, *, minted_before: int = 0, most: int = MOST
    ) -> None:
        self._origins = {origin(target.base_url), origin(target.core_url)}
        self._mint = mint
        self._minted = max(minted_before, mint.dropped()["tokens"] if mint is not None else 0)
        self._check = ""
        self._kept: list[_Kept] = []
        self._octets = 0
        self._noted = 0
        self._survey = RunTotals()
        self._merchants = {kind: RecentSecrets(kind, most=most) for kind in MERCHANT_KINDS.values()}
        self._own = OwnSecrets()
        self._clients: set[str] = set()
        self._asked = _Asked()
        for project in target.projects:
            for client in project.proxy_clients:
                self.meet_client(client.id, client.secret.reveal())
        self._meet_minted()

    def meet_target(self, target: GatewayTarget) -> None:
        """Adds an instance of the target: its answers are searched, too."""
        self._origins |= {origin(target.base_url), origin(target.core_url)}

    def begin(self, check: str) -> None:
        self._check = check
        self._asked = _Asked()

    def meet_client(self, client_id: str, client_secret: str) -> None:
        """Registers a new Proxy client."""
        self._clients.add(client_id)
        self._own.meet("proxy_client_id", client_id)
        self._own.meet("proxy_client_secret", client_secret)

    def meet_names(self, names: Iterable[str]) -> None:
        """Registers names that are not secret."""
        self._own.meet_names(names)

    def note(self, exchange: Exchange) -> None:
        """Records an exchange; those with other parties than the target are ignored."""
        if origin(exchange.request.url) not in self._origins:
            return
        self._learn(exchange)
        if leaks.party(exchange) != "backend":
            self._asked.add(exchange)
        self._kept.append(self._keep(exchange))
        self._octets += sum(len(answer.body) for answer in (exchange.answer, *exchange.retries) if answer)
        self._noted += 1
        if self._octets > _MOST_OCTETS:
            self._search_everything()
        elif self._noted % _ANSWERS_BETWEEN == 0:
            self._meet_minted()

    def landed(self, url: str) -> None:
        """Records an address on a foreign host that a browser was sent to; only the address is known."""
        request = Request(method="GET", url="")
        answer = Answer(status=0, headers=(("the address that the browser was sent to", url),))
        self._kept.append(self._keep(Exchange(step="browser", request=request, answer=answer)))

    def _keep(self, exchange: Exchange) -> _Kept:
        return _Kept(check=self._check, exchange=exchange, asked=self._asked)

    def leaks_of(self, exchanges: Iterable[Exchange], *kinds: str) -> list[Leak]:
        """Secrets of these kinds in these exchanges, in places where they must not be."""
        canary_sets = self.canary_sets(*kinds)
        kept = map(self._keep, exchanges)
        return [leak for each in kept if self._of_target(each.exchange) for leak in _leaks(canary_sets, each)]

    def minted(self, kind: str) -> int:
        """How many secrets of this kind can be searched for."""
        self._meet_minted()
        if kind in self._merchants:
            return self._merchants[kind].known
        return self._own.known(kind)

    def survey(self) -> RunTotals:
        """Searches what is left, and returns the totals."""
        self._search_everything()
        known = Counter({kind: newest.known for kind, newest in self._merchants.items()})
        known.update({kind: self._own.known(kind) for kind in self._own.kinds()})
        self._survey.known = dict(known)
        return self._survey

    def _search_everything(self) -> None:
        self._meet_minted()
        self._search(self._known_now(self._own.kinds() | self._merchants.keys()))

    def _search(self, canary_sets: tuple[leaks.CanarySet, ...]) -> None:
        clean = set[str]()
        for each in self._kept:
            self._survey.answers += each.exchange.answer is not None
            self._survey.redeemed += leaks.is_redemption(each.exchange) and each.exchange.status == 200
            given = gave_a_token(each.exchange)
            self._survey.given += given is True
            if given is False and len(self._survey.empty) < _MOST_LEAKS:
                self._survey.empty.append(each.check)
            if len(self._survey.leaks) < _MOST_LEAKS:
                self._survey.leaks += _leaks(canary_sets, each, clean)
        self._kept.clear()
        self._asked.keep_only(self._clients)
        self._octets = 0

    def canary_sets(self, *kinds: str) -> tuple[leaks.CanarySet, ...]:
        """Search patterns for secrets of these kinds; those for merchant tokens are cached."""
        self._meet_minted()
        return self._known_now(kinds)

    def _known_now(self, kinds: Iterable[str]) -> tuple[leaks.CanarySet, ...]:
        wanted = frozenset(kinds)
        merchants = [each.canary_sets for kind, each in self._merchants.items() if kind in wanted]
        return (self._own.canary_set(wanted), *chain.from_iterable(merchants))

    def _meet_minted(self) -> None:
        for token in self._mint.tokens(after=self._minted) if self._mint is not None else ():
            self._minted = token.ordinal
            if token.kind in MERCHANT_KINDS:
                self._merchants[MERCHANT_KINDS[token.kind]].add(token.value)
        full = [each for each in self._merchants.values() if each.is_full]
        if full:
            self._search(self._known_now(self._own.kinds() | self._merchants.keys()))
        for each in full:
            each.drop_older()

    def _learn(self, exchange: Exchange) -> None:
        """Registers issued tokens: those for known Proxy clients as Proxy tokens, the others as foreign."""
        document = None if leaks.is_redemption(exchange) else exchange.json()
        if not isinstance(document, dict):
            return
        issued = map(document.get, ("access_token", "refresh_token", "client_secret"))
        values = [value for value in issued if isinstance(value, str) and value]
        if leaks.is_proxy_token_request(exchange) and self._clients.intersection(_claimed_clients(exchange)):
            self._own.meet("proxy_token", *values)
        else:
            self._own.meet_others(values)

    def _of_target(self, exchange: Exchange) -> bool:
        return origin(exchange.request.url) in self._origins


def may_hold(exchange: Exchange, kind: str, value: str) -> bool:
    """True if the specification puts the secret there: the answer that gives it to the backend."""
    granted = exchange.status is not None and 200 <= exchange.status < 300
    match kind:
        case "merchant_access_token":
            return granted and leaks.is_redemption(exchange)
        case "proxy_token":
            return granted and leaks.is_proxy_token_request(exchange)
        case "proxy_client_id":
            # An ID that the request itself contained is no leak.
            named = leaks.party(exchange) == "backend" or value in leaks.sent(exchange)
            return named or value in _claimed_clients(exchange)
        case _:
            return False


def _leaks(
    canary_sets: tuple[leaks.CanarySet, ...], kept: _Kept, clean: set[str] | None = None
) -> list[Leak]:
    """Leaks in an answer; parts in `clean` were searched before with these patterns and are skipped."""
    exchange, clean = kept.exchange, set() if clean is None else clean
    parts = leaks.received(exchange)
    fresh = [text for _, text in parts if text not in clean]
    whole = leaks.search_all(canary_sets, "\n".join(fresh))
    if not whole:
        clean.update(fresh)
    bad = {found.value: found for found in whole if not _is_fine(kept, found)}
    return [
        Leak(
            kind=found.kind,
            check=kept.check,
            step=exchange.step,
            party=leaks.party(exchange),
            part=next((part for part, text in parts if _holds(canary_sets, text, found)), "whole"),
            how=found.how,
            status=exchange.status or None,
        )
        for found in bad.values()
    ]


def _is_fine(kept: _Kept, found: leaks.Found) -> bool:
    exchange = kept.exchange
    if may_hold(exchange, found.kind, found.value):
        return True
    # No leak: the agent's side sent this ID itself, perhaps earlier in the check.
    if found.kind == "proxy_client_id" and kept.asked.holds(found.value):
        return True
    # A response may echo an altered copy of a secret, if the request contained the altered copy.
    asked = leaks.sent(exchange)
    near = leaks.CanarySet([leaks.canary(found.kind, found.value)]).search(asked)
    return bool(near) and found.value not in asked and found.value not in _decoded_basic(exchange)


def _holds(canary_sets: tuple[leaks.CanarySet, ...], text: str, found: leaks.Found) -> bool:
    return any(each.value == found.value for each in leaks.search_all(canary_sets, text))


def _claimed_clients(exchange: Exchange) -> tuple[str, ...]:
    """The client ID in the Basic credentials of a token request, with and without percent-decoding."""
    name = _decoded_basic(exchange).partition(":")[0]
    return (name, unquote_plus(name)) if name else ()


def _decoded_basic(exchange: Exchange) -> str:
    for key, value in exchange.request.headers:
        if key.lower() == "authorization" and value[:6].lower() == "basic ":
            try:
                return base64.b64decode(value[6:].strip()).decode("latin-1")
            except (binascii.Error, ValueError):
                return ""
    return ""
