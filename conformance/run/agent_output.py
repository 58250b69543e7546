"""What an agent prints and logs, searched for what nobody may read there."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from conformance.wire import leaks

# Where a survey has what stood in requests that are none for tokens, in pages at the callback, and in the
# addresses that the browser was sent to.
REQUESTS, PAGES, ADDRESSES = "requests", "pages", "opened addresses"
# Under these names a survey counts runs that have printed, or added to a log, more than is kept, or than is
# searched for all that can be done to a value.
UNSEARCHED = {"output": "unsearched_run", "log": "unsearched_log"}
# A longer text is searched for values as they are, and not for all that can be done to them.
_MOST_READ = 2 * 1024 * 1024


@dataclass(frozen=True, kw_only=True, slots=True)
class Printed:
    """A secret that stands in an output, and how it is written there."""

    kind: str
    how: str

    def said(self) -> str:
        kind = self.kind.replace("_", " ")
        return kind if self.how == "as it is" else f"{kind}, {self.how}"


def printed(output: bytes, secrets: Mapping[str, Iterable[str]]) -> list[Printed]:
    """Every secret in the output, by kind."""
    pairs = [(kind, value) for kind, values in secrets.items() for value in values if value]
    if len(output) > _MOST_READ:
        return [Printed(kind=kind, how="as it is") for kind, value in pairs if value.encode() in output]
    hoard = leaks.Hoard(each for kind, value in pairs for each in _canaries(kind, value))
    found = hoard.search(output.decode("utf-8", "replace"))
    return [Printed(kind=each.kind, how=each.how) for each in found]


def printed_in(pieces: Iterable[bytes], secrets: Mapping[str, Iterable[str]]) -> list[Printed]:
    """Every secret in these texts, said once; short ones are searched in one go, and long ones alone."""
    known = {kind: tuple(values) for kind, values in secrets.items()}
    found = (each for text in _in_one_go(pieces) for each in printed(text, known))
    return list(dict.fromkeys(found))


def too_long(pieces: Iterable[bytes]) -> int:
    """How many of these texts are searched for values as they are, and no more."""
    return sum(len(piece) > _MOST_READ for piece in pieces)


def _in_one_go(pieces: Iterable[bytes]) -> Iterator[bytes]:
    together: list[bytes] = []
    for piece in pieces:
        if together and sum(map(len, together)) + len(together) + len(piece) > _MOST_READ:
            yield b"\n".join(together)
            together = []
        together.append(piece)
    yield b"\n".join(together)


def _canaries(kind: str, value: str) -> Iterator[leaks.Canary]:
    """A secret, and of an ID token also its claims as they stand in it: they are about a person."""
    yield leaks.canary(kind, value)
    if kind == "id_token" and value.count(".") == 2:
        yield leaks.Canary(kind=kind, value=value.split(".")[1])
