"""What one check knows of secrets and of names that are safe to show."""

from __future__ import annotations

from collections.abc import Iterable
from threading import Lock

from gateproof.conformance.wire.secret import Secret
from gateproof.reports.redaction import Redactor

_SETTINGS = frozenset({"target_header", "setting"})
_SHORTEST_SETTING = 6


class Keyring:
    """Collects the secrets that a check meets, and hands out the redactor that hides them."""

    def __init__(self, *, secrets: Iterable[Secret] = (), public: Iterable[str] = ()) -> None:
        self._labels: dict[str, str] = {}
        self._kinds: dict[str, str] = {}
        self._counts: dict[str, int] = {}
        self._public: set[str] = set(public)
        # Two who meet a secret at the same time must not give it the number of another.
        self._counting = Lock()
        for secret in secrets:
            self.add(secret)

    def secret(self, kind: str, value: str) -> Secret:
        """The value as a Secret that every later rendering will hide."""
        return self.add(Secret(kind, value))

    def add(self, secret: Secret) -> Secret:
        value = secret.reveal()
        with self._counting:
            if value and value not in self._labels:
                number = self._counts[secret.kind] = self._counts.get(secret.kind, 0) + 1
                self._kinds[value] = secret.kind
                self._labels[value] = f"⟨{secret.kind}#{number}⟩"
        return secret

    def public(self, *values: str) -> None:
        """Names that may be shown although they look like credentials: identifiers, addresses, key IDs."""
        self._public.update(values)

    @property
    def names(self) -> frozenset[str]:
        """What may be shown by name."""
        return frozenset(self._public)

    def values(self, *kinds: str) -> list[str]:
        """The secrets of these kinds that the check has met; of all kinds where none is named."""
        return [value for value, kind in list(self._kinds.items()) if not kinds or kind in kinds]

    def redactor(self) -> Redactor:
        # A short setting is a flag or a number, and would take all flags and numbers along.
        hidden = {
            value: label
            for value, label in self._labels.items()
            if self._kinds[value] not in _SETTINGS or len(value) >= _SHORTEST_SETTING
        }
        return Redactor(secrets=hidden, public=self._public)
