"""The newest merchant secrets, prepared for the search: a long campaign has too many to search for all."""

from __future__ import annotations

from gateproof.conformance.wire import leaks

# Limits for one kind. A normal run has fewer. Each secret takes 15 kB, so a campaign keeps less.
MOST, MOST_IN_A_CAMPAIGN = 3000, 500


class RecentSecrets:
    """Secrets of one kind: at least the newest `most`, at most twice as many."""

    def __init__(self, kind: str, *, most: int = MOST) -> None:
        self._kind = kind
        self._most = most
        self._older, self._younger = leaks.CanarySet(), leaks.CanarySet()
        self._held = 0
        self.known = 0

    @property
    def canary_sets(self) -> tuple[leaks.CanarySet, leaks.CanarySet]:
        return self._older, self._younger

    @property
    def is_full(self) -> bool:
        return self._held >= self._most

    def add(self, value: str) -> None:
        self._younger.add([leaks.canary(self._kind, value)])
        self._held += 1
        self.known += leaks.is_distinct(value)

    def drop_older(self) -> None:
        """Drops the older half. Answers received after those secrets were issued must be searched first."""
        self._older, self._younger, self._held = self._younger, leaks.CanarySet(), 0
