"""Searches the output and logs of an agent for secrets."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from gateproof.conformance.wire import leaks

# Keys of a survey for text in requests other than token requests, in pages at the callback, in addresses that
# the browser was sent to, and in environments in which it was started.
REQUESTS, PAGES, ADDRESSES = "requests", "pages", "opened addresses"
ENVIRONMENTS = "environments of the browser"
# The key under which a survey counts runs whose output was longer than the part that is kept.
UNSEARCHED = {"output": "unsearched_run"}
# Longer texts are searched in parts that overlap by more than the longest form of a secret.
_MOST_READ, _READ_AGAIN = 2 * 1024 * 1024, 64 * 1024


@dataclass(frozen=True, kw_only=True, slots=True)
class Printed:
    """A secret that was found in an output, and how it is written there."""

    kind: str
    how: str

    def said(self) -> str:
        kind = self.kind.replace("_", " ")
        return kind if self.how == "as it is" else f"{kind}, {self.how}"


class Search:
    """A search for these secrets, by kind, in any number of texts."""

    def __init__(self, secrets: Mapping[str, Iterable[str]]) -> None:
        pairs = [(kind, value) for kind, values in secrets.items() for value in values if value]
        self._canaries = leaks.CanarySet(each for kind, value in pairs for each in _canaries(kind, value))

    def printed(self, output: bytes) -> list[Printed]:
        """Every secret in the output, each once; equal parts, as of a flood, are searched once."""
        texts = (part.decode("utf-8", "replace") for part in dict.fromkeys(_parts(output)))
        found = (each for text in texts for each in self._canaries.search(text))
        return list(dict.fromkeys(Printed(kind=each.kind, how=each.how) for each in found))

    def printed_in(self, pieces: Iterable[bytes]) -> list[Printed]:
        """Every secret in these texts, each once; short texts are joined before the search."""
        texts = dict.fromkeys(_joined(pieces))
        return list(dict.fromkeys(each for text in texts for each in self.printed(text)))


def printed(output: bytes, secrets: Mapping[str, Iterable[str]]) -> list[Printed]:
    """Every secret in one output, by kind."""
    return Search(secrets).printed(output)


def printed_in(pieces: Iterable[bytes], secrets: Mapping[str, Iterable[str]]) -> list[Printed]:
    """Every secret in these texts, by kind."""
    return Search(secrets).printed_in(pieces)


def _parts(output: bytes) -> Iterator[bytes]:
    for start in range(0, max(len(output), 1), _MOST_READ):
        yield output[max(start - _READ_AGAIN, 0) : start + _MOST_READ]


def _joined(pieces: Iterable[bytes]) -> Iterator[bytes]:
    together: list[bytes] = []
    for piece in pieces:
        if together and sum(map(len, together)) + len(together) + len(piece) > _MOST_READ:
            yield b"\n".join(together)
            together = []
        together.append(piece)
    yield b"\n".join(together)


def _canaries(kind: str, value: str) -> Iterator[leaks.Canary]:
    """The secret; for an ID token also its claims part, because it holds personal data."""
    yield leaks.canary(kind, value)
    if kind == "id_token" and value.count(".") == 2:
        yield leaks.Canary(kind=kind, value=value.split(".")[1])
