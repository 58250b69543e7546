"""What the merchant minted last, ready to be looked for: in a campaign it mints without end."""

from __future__ import annotations

from gateproof.conformance.wire import leaks

# Of one kind. A run mints fewer. What is ready takes 40 kB of memory each: a campaign makes do with less.
MOST, MOST_IN_A_CAMPAIGN = 3000, 500


class Newest:
    """The secrets of one kind: at least so many of the newest, and at most twice as many."""

    def __init__(self, kind: str, *, most: int = MOST) -> None:
        self._kind = kind
        self._most = most
        self._older, self._younger = leaks.Hoard(), leaks.Hoard()
        self._held = 0
        self.known = 0

    @property
    def hoards(self) -> tuple[leaks.Hoard, leaks.Hoard]:
        return self._older, self._younger

    @property
    def is_full(self) -> bool:
        return self._held >= self._most

    def add(self, value: str) -> None:
        self._younger.add([leaks.canary(self._kind, value)])
        self._held += 1
        self.known += leaks.is_distinct(value)

    def let_go(self) -> None:
        """The older half is forgotten: what was received since it was minted has to be searched by then."""
        self._older, self._younger, self._held = self._younger, leaks.Hoard(), 0
