"""Keeps received requests and created secrets up to a limit, and counts the discarded ones."""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from itertools import islice
from typing import Any, TypeVar

from gateproof.fakes.merchant.records import Form, JournalEntry, Kind, MintedToken

Record = TypeVar("Record", MintedToken, JournalEntry)
LIMIT = 100_000
PAGE = 2_000


class Ledger:
    """Journal, minted tokens and applied outcomes. Ordinals start at 1 and have no gaps."""

    def __init__(self, *, wall: Callable[[], float], limit: int = LIMIT) -> None:
        self._wall = wall
        self._limit = limit
        self._journal: dict[int, JournalEntry] = {}
        self._of_client: defaultdict[str, list[int]] = defaultdict(list)
        self._forgotten: dict[str, int] = {}
        self._tokens: dict[int, MintedToken] = {}
        self._by_value: dict[str, int] = {}
        self._families: defaultdict[int, list[int]] = defaultdict(list)
        self._written = 0
        self._minted = 0
        self._family = 0
        self._fired: Counter[tuple[str, str]] = Counter()

    # Requests

    @property
    def last_received(self) -> int:
        """The ordinal of the newest request; 0 if there is none."""
        return self._written

    def received(self, endpoint: str) -> JournalEntry:
        self._written += 1
        entry = JournalEntry(ordinal=self._written, time=self._wall(), endpoint=endpoint)
        self._journal[entry.ordinal] = entry
        if len(self._journal) > self._limit:
            self._forget_oldest_entry()
        return entry

    def belongs_to(self, entry: JournalEntry, client_id: str) -> None:
        """Assigns a request to a client."""
        if entry.client_id == client_id:
            return
        if entry.ordinal in self._journal:
            self._unlink(entry)
            insort(self._of_client[client_id], entry.ordinal)
        entry.client_id = client_id

    def _unlink(self, entry: JournalEntry) -> None:
        if entry.client_id is not None:
            ordinals = self._of_client[entry.client_id]
            # In order, so that no search goes through all requests of a client.
            del ordinals[bisect_left(ordinals, entry.ordinal)]

    def journal(self, *, client_id: str | None, after: int) -> tuple[list[JournalEntry], int]:
        """A page of entries after an ordinal, and an upper bound of how many of them were discarded."""
        if client_id is None:
            every = list(islice(_after(self._journal, after), PAGE))
            return every, _lost(self._journal, self._written, after)
        ordinals = self._of_client.get(client_id, [])
        first = bisect_right(ordinals, after)
        found = [self._journal[ordinal] for ordinal in ordinals[first : first + PAGE]]
        return found, max(0, self._forgotten.get(client_id, 0) - after)

    def _forget_oldest_entry(self) -> None:
        oldest = self._journal.pop(next(iter(self._journal)))
        self._unlink(oldest)
        if oldest.client_id is not None:
            self._forgotten[oldest.client_id] = oldest.ordinal

    def count(self, client_id: str, outcome: str) -> None:
        self._fired[client_id, outcome] += 1

    def fired(self, client_id: str | None) -> dict[str, int]:
        total: Counter[str] = Counter()
        for (client, outcome), times in self._fired.items():
            if client_id in (None, client):
                total[outcome] += times
        return dict(total)

    # Secrets

    def new_family(self) -> int:
        """A number for all tokens that result from one consent of a user."""
        self._family += 1
        return self._family

    def minted(
        self,
        *,
        kind: Kind,
        form: Form,
        value: str,
        client_id: str,
        login: str,
        actor: tuple[str, ...],
        family: int,
        lifetime_s: float | None,
    ) -> MintedToken:
        """Records a secret before it is sent."""
        now = self._wall()
        self._minted += 1
        token = MintedToken(
            ordinal=self._minted,
            kind=kind,
            form=form,
            value=value,
            client_id=client_id,
            login=login,
            actor=actor,
            family=family,
            issued_at=now,
            expires_at=None if lifetime_s is None else now + lifetime_s,
        )
        self._tokens[token.ordinal] = token
        self._by_value[value] = token.ordinal
        self._families[family].append(token.ordinal)
        if len(self._tokens) > self._limit:
            self._forget_oldest()
        return token

    @property
    def last_minted(self) -> int:
        """The ordinal of the newest secret; 0 if there is none."""
        return self._minted

    def find(self, value: str, *kinds: Kind) -> MintedToken | None:
        ordinal = self._by_value.get(value)
        token = None if ordinal is None else self._tokens[ordinal]
        return token if token is not None and (not kinds or token.kind in kinds) else None

    def is_active(self, token: MintedToken) -> bool:
        """True if it is neither revoked nor expired. A superseded access token is active until it expires."""
        spent = token.superseded and token.kind in ("refresh_token", "code")
        late = token.expires_at is not None and token.expires_at <= self._wall()
        return not (token.revoked or spent or late)

    def supersede(self, family: int, kind: Kind) -> None:
        """Marks every token of a kind in a family as replaced."""
        for ordinal in self._families[family]:
            if self._tokens[ordinal].kind == kind:
                self._tokens[ordinal] = replace(self._tokens[ordinal], superseded=True)

    def revoke_family(self, family: int, *kinds: Kind) -> None:
        """Revokes every token of a family, or those of these kinds."""
        for ordinal in self._families[family]:
            if not kinds or self._tokens[ordinal].kind in kinds:
                self._tokens[ordinal] = replace(self._tokens[ordinal], revoked=True)

    def tokens(self, *, after: int, kind: Kind | None = None) -> tuple[list[MintedToken], int]:
        """A page of secrets after an ordinal, and how many of them were discarded."""
        wanted = (token for token in _after(self._tokens, after) if kind in (None, token.kind))
        return list(islice(wanted, PAGE)), _lost(self._tokens, self._minted, after)

    def dropped(self) -> dict[str, int]:
        return {
            "journal": self._written - len(self._journal),
            "tokens": self._minted - len(self._tokens),
        }

    def _forget_oldest(self) -> None:
        oldest = self._tokens.pop(next(iter(self._tokens)))
        del self._by_value[oldest.value]
        family = self._families[oldest.family]
        family.remove(oldest.ordinal)
        if not family:
            del self._families[oldest.family]


def _after(records: Mapping[int, Record], after: int) -> Iterator[Record]:
    """The records after an ordinal; no search is needed because ordinals have no gaps."""
    if not records:
        return
    oldest = next(iter(records))
    for ordinal in range(max(after + 1, oldest), oldest + len(records)):
        yield records[ordinal]


def _lost(records: Mapping[int, Any], last: int, after: int) -> int:
    oldest = next(iter(records), last + 1)
    return max(0, oldest - 1 - after)
