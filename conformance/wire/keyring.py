"""The secrets of one check, and names that may be shown."""

from __future__ import annotations

from collections.abc import Iterable
from threading import Lock

from gateproof.conformance.wire.secret import Secret
from gateproof.reports.redaction import Redactor

_SETTINGS = frozenset({"target_header", "setting"})
_SHORTEST_SETTING = 6


class Keyring:
    """Collects the secrets that a check meets, and creates the redactor for them."""

    def __init__(self, *, secrets: Iterable[Secret] = (), public: Iterable[str] = ()) -> None:
        self._labels: dict[str, str] = {}
        self._kinds: dict[str, str] = {}
        self._counts: dict[str, int] = {}
        self._public: set[str] = set(public)
        # Two threads must not give different secrets the same number.
        self._counting = Lock()
        for secret in secrets:
            self.add(secret)

    def secret(self, kind: str, value: str) -> Secret:
        """The value as a Secret, which every later report redacts."""
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
        """Registers names that may be shown although they look like credentials: IDs, URLs, key IDs."""
        self._public.update(values)

    @property
    def names(self) -> frozenset[str]:
        """Names that may be shown."""
        return frozenset(self._public)

    def values(self, *kinds: str) -> list[str]:
        """The secrets of these kinds that the check has met; of all kinds if none is given."""
        return [value for value, kind in list(self._kinds.items()) if not kinds or kind in kinds]

    def redactor(self) -> Redactor:
        # Short settings are flags or numbers; redacting them would redact all flags and numbers.
        hidden = {
            value: label
            for value, label in self._labels.items()
            if self._kinds[value] not in _SETTINGS or len(value) >= _SHORTEST_SETTING
        }
        return Redactor(secrets=hidden, public=self._public)
