"""The screenshot of a check: the page on which its sign-in got stuck."""

from __future__ import annotations

import base64
from collections.abc import Callable
from dataclasses import replace

from gateproof.conformance.signin.picturing import Picturing
from gateproof.conformance.wire.keyring import Keyring
from gateproof.reports import leaks
from gateproof.reports.pictures import path_of
from gateproof.reports.verdicts import CheckResult

# Shorter secrets could be parts of ordinary words.
_SHORTEST = 6


class Screenshots:
    """Keeps the last screenshot of the current check, for its result if that names the screenshot."""

    def __init__(self) -> None:
        self._path = ""
        self._drawn: bytes | None = None

    def begin(self, check_id: str) -> None:
        self._path = path_of(check_id)
        self._drawn = None

    def picturing(self, keyring: Callable[[], Keyring]) -> Picturing:
        """The object that takes screenshots without secrets for the current check."""

        def tells(text: str) -> bool:
            known = (value for value in keyring().values() if len(value) >= _SHORTEST)
            return leaks.credential_kind(text) is not None or any(value in text for value in known)

        return Picturing(redact=lambda text: keyring().redactor().text(text), tells=tells, keep=self._keep)

    def illustrated(self, result: CheckResult) -> CheckResult:
        """The result, with the screenshot if it names it."""
        said = "\0".join([result.message, result.got, *map(str, result.observations.values())])
        if self._drawn is None or self._path not in said:
            return result
        return replace(result, picture=base64.b64encode(self._drawn).decode("ascii"))

    def _keep(self, drawn: bytes) -> str:
        self._drawn = drawn
        return self._path
