"""The secrets that the target itself issued, ready for the search."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from gateproof.conformance.wire import leaks
from gateproof.conformance.wire.common_substrings import without_shared_parts

# How many tokens of other clients are kept for comparison: parts that both share are no secret.
_MOST_OTHERS = 20_000


class OwnSecrets:
    """Proxy clients and Proxy tokens by kind, without names and parts that other values share.

    Many searches use nearly the same secrets, so the canaries of one search are kept for the next.
    """

    def __init__(self) -> None:
        self._secrets: dict[tuple[str, str], None] = {}
        # In the order in which they were received.
        self._others: dict[str, None] = {}
        self._names: dict[str, None] = {}
        # The canary of each secret, the names in the secret, and how many names were known at that time.
        self._canary_of: dict[tuple[str, str], tuple[leaks.Canary, list[str], int]] = {}
        # By kinds of secrets: their canaries at the last search, and the set of these canaries.
        self._set_of: dict[frozenset[str], tuple[list[leaks.Canary], leaks.CanarySet]] = {}

    def meet(self, kind: str, *values: str) -> None:
        self._secrets.update({(kind, value): None for value in values})

    def meet_others(self, values: Iterable[str]) -> None:
        """Registers tokens of other clients."""
        self._others.update(dict.fromkeys(values))
        while len(self._others) > _MOST_OTHERS:
            del self._others[next(iter(self._others))]

    def meet_names(self, names: Iterable[str]) -> None:
        """Registers names that are not secret."""
        self._names.update(dict.fromkeys(names))

    def kinds(self) -> set[str]:
        return {kind for kind, _ in self._secrets}

    def known(self, kind: str) -> int:
        """How many secrets of this kind can be searched for."""
        return sum(known == kind and leaks.is_distinct(value) for known, value in self._secrets)

    def canary_set(self, kinds: frozenset[str]) -> leaks.CanarySet:
        """The canaries of these kinds; only new ones are added to the set of the last search."""
        wanted = self._canaries(kinds)
        before, known = self._set_of.get(kinds, ([], leaks.CanarySet()))
        if wanted[: len(before)] != before:
            before, known = [], leaks.CanarySet()
        known.add(wanted[len(before) :])
        self._set_of[kinds] = wanted, known
        return known

    def _canaries(self, kinds: frozenset[str]) -> list[leaks.Canary]:
        names = list(self._names)
        made = [
            (None if self._is_in_a_name(value) else leaks.name(kind, value))
            if kind == "proxy_client_id"
            else self._without_names(kind, value, names)
            for kind, value in self._secrets
            if kind in kinds
        ]
        own = (value for _, value in self._secrets)
        return without_shared_parts([each for each in made if each is not None], {*self._others, *own})

    def _without_names(self, kind: str, value: str, names: Sequence[str]) -> leaks.Canary:
        made, public, known = self._canary_of.get((kind, value), (None, [], 0))
        more = [name for name in names[known:] if name in value]
        if made is None or more:
            public = public + more
            made = leaks.canary(kind, value, public=public)
        self._canary_of[kind, value] = made, public, len(names)
        return made

    def _is_in_a_name(self, client_id: str) -> bool:
        """True for a short ID that is part of other known names: it appears wherever they do."""
        return len(client_id) < leaks.RUN and any(
            client_id in known and client_id != known for known in self._names
        )
