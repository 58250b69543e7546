"""What one worker's agents, browsers and backends received from the target, and which secrets were in it."""

from __future__ import annotations

import base64
import binascii
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from itertools import chain
from typing import Any, Protocol
from urllib.parse import unquote_plus

from gateproof.conformance.kit.gateway.recent_secrets import MOST, Newest
from gateproof.conformance.suite.claims import repeat_with
from gateproof.conformance.targets.model import GatewayTarget
from gateproof.conformance.wire import leaks
from gateproof.conformance.wire.common_substrings import apart
from gateproof.conformance.wire.exchange import Answer, Exchange, Request
from gateproof.conformance.wire.route import origin
from gateproof.fakes.merchant.records import Kind, MintedToken
from gateproof.reports.replay_files import RUN

MERCHANT_KINDS = {"refresh_token": "merchant_refresh_token", "access_token": "merchant_access_token"}
# How many characters of a log there were to be searched.
LOGGED = "logged"
# What is kept to be searched at the end; beyond it, the search comes early.
_MOST_OCTETS = 16 * 1024 * 1024
_MOST_LEAKS = 20
# Of what others than Proxy clients got, so much is compared with what they got: makers repeat themselves.
_MOST_OTHERS = 20_000
# The merchant forgets its oldest secrets one day: after so many answers it is asked for those of meanwhile.
_ANSWERS_BETWEEN = 1000
# Where more rules than these brought something to light, all of the run is repeated.
_FEW = 3


class Mint(Protocol):
    """Says what the merchant has minted since the token with that ordinal."""

    def tokens(self, kind: Kind | None = None, after: int = 0) -> list[MintedToken]: ...

    def dropped(self) -> dict[str, int]:
        """How many of its oldest tokens the merchant has forgotten."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Leak:
    """A secret where it must not be: which kind, in whose hands, in which part of which answer."""

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
    """Keeps the rules whose checks brought these to light: a run with them sees the failure again.

    Where that is not known, or they are many, all of the run does.
    """
    checks = {leak.check for leak in found}
    rules = sorted({check.partition("/")[0] for check in checks})
    known = len(rules) <= _FEW and all("/" in check for check in checks)
    repeat_with({"kind": RUN, "rules": rules if known else []})


@dataclass(kw_only=True, slots=True)
class Survey:
    """What a whole run has received, how many secrets it was searched for, and what was found.

    `lost` says why a part of what was received was not searched, if that is so.
    """

    answers: int = 0
    known: dict[str, int] = field(default_factory=dict)
    redeemed: int = 0
    leaks: list[Leak] = field(default_factory=list)
    lost: str = ""
    # When the merchant last failed the target, on the steady clock that all processes share.
    troubled_at: float | None = None

    def add(self, other: Survey) -> None:
        self.redeemed += other.redeemed
        unread = any(each.answers and each.known.get(LOGGED) == 0 for each in (self, other))
        for kind, number in other.known.items():
            self.known[kind] = self.known.get(kind, 0) + number
        if unread:
            # One log that nobody could search is not made up for by another.
            self.known[LOGGED] = 0
        self.answers += other.answers
        self.leaks += other.leaks
        self.lost = self.lost or other.lost
        known = [at for at in (self.troubled_at, other.troubled_at) if at is not None]
        self.troubled_at = max(known, default=None)

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, raw: Mapping[str, Any]) -> Survey:
        return cls(**{**raw, "leaks": [Leak(**leak) for leak in raw["leaks"]]})


@dataclass(frozen=True, kw_only=True, slots=True)
class _Kept:
    """An exchange, its check, and the Proxy client IDs that the check itself told the agent's side."""

    check: str
    exchange: Exchange
    told: set[str]


class Received:
    """Keeps the target's answers, learns the secrets that they must not hold, and searches them.

    A secret exists before it can leak, so whatever is known when the search begins is all that what was
    received before can hold. What this worker cannot know are Proxy tokens that another worker got. In a
    campaign of hours, a merchant's token is no longer looked for once as many others as `most` were minted.
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
        self._survey = Survey()
        self._merchants = {kind: Newest(kind, most=most) for kind in MERCHANT_KINDS.values()}
        self._secrets: dict[tuple[str, str], None] = {}
        # In the order in which they were met.
        self._others: dict[str, None] = {}
        self._names: set[str] = set()
        self._clients: set[str] = set()
        self._told = set[str]()
        for project in target.projects:
            for client in project.proxy_clients:
                self.meet_client(client.id, client.secret.reveal())
        self._meet_minted()

    def begin(self, check: str) -> None:
        self._check = check
        self._told = set()

    def meet_client(self, client_id: str, client_secret: str) -> None:
        """A Proxy client that exists from now on."""
        self._clients.add(client_id)
        self._secrets["proxy_client_id", client_id] = None
        self._secrets["proxy_client_secret", client_secret] = None

    def meet_names(self, names: Iterable[str]) -> None:
        """Names that are no secret, wherever they stand."""
        self._names.update(names)

    def note(self, exchange: Exchange) -> None:
        """An exchange with anybody; those with the target are kept."""
        if origin(exchange.request.url) not in self._origins:
            return
        self._learn(exchange)
        if leaks.party(exchange) != "backend":
            asked = unquote_plus(leaks.sent(exchange))
            self._told.update(client for client in self._clients if client in asked)
        self._kept.append(self._keep(exchange))
        self._octets += sum(len(answer.body) for answer in (exchange.answer, *exchange.retries) if answer)
        self._noted += 1
        if self._octets > _MOST_OCTETS:
            self._search_everything()
        elif self._noted % _ANSWERS_BETWEEN == 0:
            self._meet_minted()

    def landed(self, url: str) -> None:
        """Where a browser was sent that was somebody else's: its address is all that is seen of it."""
        request = Request(method="GET", url="")
        answer = Answer(status=0, headers=(("the address that the browser was sent to", url),))
        self._kept.append(self._keep(Exchange(step="browser", request=request, answer=answer)))

    def _keep(self, exchange: Exchange) -> _Kept:
        return _Kept(check=self._check, exchange=exchange, told=self._told)

    def leaks_of(self, exchanges: Iterable[Exchange], *kinds: str) -> list[Leak]:
        """The secrets of these kinds in these exchanges, where they must not be."""
        hoards = self.hoards(*kinds)
        kept = map(self._keep, exchanges)
        return [leak for each in kept if self._of_target(each.exchange) for leak in _leaks(hoards, each)]

    def minted(self, kind: str) -> int:
        """How many secrets of this kind can be looked for."""
        self._meet_minted()
        if kind in self._merchants:
            return self._merchants[kind].known
        return sum(known == kind and leaks.is_distinct(value) for known, value in self._secrets)

    def _canaries(self, kinds: Iterable[str]) -> list[leaks.Canary]:
        """What a target made up: the names in it and what it shares with others are left out."""
        wanted = frozenset(kinds)
        made = [
            (None if self._is_in_a_name(value) else leaks.name(kind, value))
            if kind == "proxy_client_id"
            else leaks.canary(kind, value, public=self._names)
            for kind, value in self._secrets
            if kind in wanted
        ]
        own = (value for _, value in self._secrets)
        return apart([each for each in made if each is not None], {*self._others, *own})

    def _is_in_a_name(self, client_id: str) -> bool:
        """True for a short ID that other names have in them: it comes with them wherever they stand."""
        return len(client_id) < leaks.RUN and any(
            client_id in known and client_id != known for known in self._names
        )

    def survey(self) -> Survey:
        """Searches what is left, and says what the whole of it came to."""
        self._search_everything()
        known = Counter({kind: newest.known for kind, newest in self._merchants.items()})
        for kind, value in self._secrets:
            known[kind] += leaks.is_distinct(value)
        self._survey.known = dict(known)
        return self._survey

    def _search_everything(self) -> None:
        self._meet_minted()
        self._search(self._known_now({kind for kind, _ in self._secrets} | self._merchants.keys()))

    def _search(self, hoards: tuple[leaks.Hoard, ...]) -> None:
        clean = set[str]()
        for each in self._kept:
            self._survey.answers += each.exchange.answer is not None
            self._survey.redeemed += leaks.is_redemption(each.exchange) and each.exchange.status == 200
            if len(self._survey.leaks) < _MOST_LEAKS:
                self._survey.leaks += _leaks(hoards, each, clean)
        self._kept.clear()
        self._octets = 0

    def hoards(self, *kinds: str) -> tuple[leaks.Hoard, ...]:
        """The secrets of these kinds, ready to be looked for; the merchant's are many, and kept ready."""
        self._meet_minted()
        return self._known_now(kinds)

    def _known_now(self, kinds: Iterable[str]) -> tuple[leaks.Hoard, ...]:
        wanted = set(kinds)
        merchants = [each.hoards for kind, each in self._merchants.items() if kind in wanted]
        return (leaks.Hoard(self._canaries(wanted)), *chain.from_iterable(merchants))

    def _meet_minted(self) -> None:
        for token in self._mint.tokens(after=self._minted) if self._mint is not None else ():
            self._minted = token.ordinal
            if token.kind in MERCHANT_KINDS:
                self._merchants[MERCHANT_KINDS[token.kind]].add(token.value)
        full = [each for each in self._merchants.values() if each.is_full]
        if full:
            self._search(self._known_now({kind for kind, _ in self._secrets} | self._merchants.keys()))
        for each in full:
            each.let_go()

    def _learn(self, exchange: Exchange) -> None:
        """A Proxy token is what a known Proxy client got; what others got is theirs."""
        issued = [exchange.member(name) for name in ("access_token", "refresh_token", "client_secret")]
        values = [value for value in issued if isinstance(value, str) and value]
        if leaks.is_redemption(exchange):
            return
        if leaks.is_proxy_token_request(exchange) and self._clients.intersection(_claimed_clients(exchange)):
            self._secrets.update({("proxy_token", value): None for value in values})
        else:
            self._others.update(dict.fromkeys(values))
            while len(self._others) > _MOST_OTHERS:
                del self._others[next(iter(self._others))]

    def _of_target(self, exchange: Exchange) -> bool:
        return origin(exchange.request.url) in self._origins


def may_hold(exchange: Exchange, kind: str, value: str) -> bool:
    """True where the specification puts the secret: in the answer that hands it to the backend."""
    granted = exchange.status is not None and 200 <= exchange.status < 300
    match kind:
        case "merchant_access_token":
            return granted and leaks.is_redemption(exchange)
        case "proxy_token":
            return granted and leaks.is_proxy_token_request(exchange)
        case "proxy_client_id":
            # An identifier that the asker named itself is no news to it.
            named = leaks.party(exchange) == "backend" or value in leaks.sent(exchange)
            return named or value in _claimed_clients(exchange)
        case _:
            return False


def _leaks(hoards: tuple[leaks.Hoard, ...], kept: _Kept, clean: set[str] | None = None) -> list[Leak]:
    """What was found in an answer; parts that these hoards found clean before are not read again."""
    exchange, clean = kept.exchange, set() if clean is None else clean
    parts = leaks.received(exchange)
    fresh = [text for _, text in parts if text not in clean]
    whole = leaks.search_all(hoards, "\n".join(fresh))
    if not whole:
        clean.update(fresh)
    bad = {found.value: found for found in whole if not _is_fine(kept, found)}
    return [
        Leak(
            kind=found.kind,
            check=kept.check,
            step=exchange.step,
            party=leaks.party(exchange),
            part=next((part for part, text in parts if _holds(hoards, text, found)), "whole"),
            how=found.how,
            status=exchange.status or None,
        )
        for found in bad.values()
    ]


def _is_fine(kept: _Kept, found: leaks.Found) -> bool:
    exchange = kept.exchange
    # An ID is no secret to a side that was told it: a session may bring it up later in the check.
    if found.kind == "proxy_client_id" and found.value in kept.told:
        return True
    if may_hold(exchange, found.kind, found.value):
        return True
    # What is near a secret and was sent like that comes back as somebody's input, not as a secret.
    asked = leaks.sent(exchange)
    near = leaks.Hoard([leaks.canary(found.kind, found.value)]).search(asked)
    return bool(near) and found.value not in asked and found.value not in _decoded_basic(exchange)


def _holds(hoards: tuple[leaks.Hoard, ...], text: str, found: leaks.Found) -> bool:
    return any(each.value == found.value for each in leaks.search_all(hoards, text))


def _claimed_clients(exchange: Exchange) -> tuple[str, ...]:
    """The client that a request to the token endpoint says it comes from, read in either way."""
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
