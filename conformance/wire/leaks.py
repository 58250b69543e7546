"""Finds secrets in answers, in many encodings."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import dataclass, field
from functools import lru_cache
from urllib.parse import urlsplit

from gateproof.conformance.wire.documents import strings_in
from gateproof.conformance.wire.exchange import Answer, Exchange, Request
from gateproof.conformance.wire.jose import read
from gateproof.conformance.wire.secret import Secret
from gateproof.reports.decoders import Reading, readings, text_of
from gateproof.reports.encodings import as_a_value, embedded

# This many consecutive characters of a secret are a leak.
RUN = 16
# Any run of 16 characters contains a window of 8 that begins at a multiple of 9, so only those are looked up.
WINDOW = 8
STRIDE = RUN - WINDOW + 1
# Of a very long secret, only the beginning and the end are searched for.
_ENDS = 96
_SHORTEST = 8
# Shorter values with letters and digits may occur by coincidence.
_SHORTEST_MIXED = 6
# Encodings that anybody can read directly.
PLAIN = frozenset({"as it is", "percent-encoded", "JSON-escaped", "split by white space"})
# A window is looked up by these bits of its hash, which take half of its memory. One that is found in this
# way is compared as text.
_BITS = 2**60 - 1
# Windows without digits in letters of one case look like words; secrets hardly ever do.
_WORDS = re.compile(r"[a-z_\-. :/]{8}|[A-Z_\-. :/]{8}")


@dataclass(frozen=True, kw_only=True, slots=True)
class Canary:
    """A value to search for, and its parts that are secret.

    Without such parts, the whole value is searched for; a short one only as a complete value.
    """

    kind: str
    value: str = field(repr=False)
    parts: tuple[str, ...] = field(repr=False, default=())
    is_name: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class Found:
    """A canary that was found, and its encoding."""

    kind: str
    how: str
    value: str = field(repr=False)


def canary(kind: str, value: str, *, public: Iterable[str] = ()) -> Canary:
    """A secret and its secret parts: the signature of a JWT; for others, what remains without names.

    A JWT's `jti` is not secret: it identifies the token, for example in an audit log.
    """
    jwt = read(value)
    parts = [value] if jwt is None else [value.rpartition(".")[2]]
    for name in public:
        if len(name) >= _SHORTEST and name in value:
            parts = [piece for part in parts for piece in part.split(name)]
    return Canary(kind=kind, value=value, parts=tuple(part for part in parts if len(part) >= RUN))


def name(kind: str, value: str) -> Canary | None:
    """An identifier that is searched for as a whole; None if it could occur by coincidence."""
    return Canary(kind=kind, value=value, is_name=True) if is_distinct(value) else None


def is_distinct(value: str) -> bool:
    """True if the value is distinctive enough to search for."""
    mixed = any(map(str.isdigit, value)) and any(map(str.isalpha, value))
    return len(value) >= RUN or (len(value) >= _SHORTEST_MIXED and mixed)


def digest(window: str) -> int:
    """A number by which a window is looked up."""
    return hash(window) & _BITS


class Windows:
    """One decoding of a text in lower case, in the windows that are looked up."""

    def __init__(self, reading: Reading) -> None:
        self.reading = reading
        self.text = text = reading.text.lower()
        self.places = range(0, len(text) - WINDOW + 1, STRIDE)
        self.windows = [text[place : place + WINDOW] for place in self.places]
        self.digests = [hash(window) & _BITS for window in self.windows]


class CanarySet:
    """A set of canaries that are searched for together."""

    def __init__(self, canaries: Iterable[Canary] = ()) -> None:
        # A canary, its part in lower case, how that is turned, and the windows of a part with words.
        self._parts: list[tuple[Canary, str, str, frozenset[str] | None]] = []
        # Each STRIDE-th window of the parts. All windows would take most of the memory of a run.
        self._some_windows: dict[str, tuple[int, ...]] = {}
        self._wholes: list[tuple[Canary, str]] = []
        # The whole values to which a window may belong, and those too short for windows.
        self._windows_of_wholes: dict[str, list[int]] = {}
        self._short_wholes: list[int] = []
        # The digests of all windows.
        self._known: set[int] = set()
        self.add(canaries)

    def add(self, canaries: Iterable[Canary]) -> None:
        """Adds canaries; that is cheaper than building a new set."""
        for each in canaries:
            for part in each.parts:
                for piece in (part[:_ENDS], part[-_ENDS:]) if len(part) > 2 * _ENDS else (part,):
                    self._add(each, piece, "")
                self._add(each, part[:_ENDS][::-1], "backwards")
            wordy = any(_WORDS.search(part) for part in each.parts)
            if (wordy or not each.parts) and is_distinct(each.value):
                self._add_whole(each)

    def search(self, text: str) -> list[Found]:
        """Every canary in the text in any encoding, each once."""
        return search_all((self,), text)

    def may_find_in(self, digests: Set[int]) -> bool:
        """False if a text with no other windows than those with these digests contains no canary."""
        return bool(self._short_wholes) or not self._known.isdisjoint(digests)

    def find_in(self, windowed: Windows, found: dict[str, Found]) -> None:
        """Adds the canaries in one decoding of a text, by value; those that were found before stay."""
        possible = self._short_wholes
        if not self._known.isdisjoint(windowed.digests):
            self._find_parts(windowed, found)
            met = self._windows_of_wholes.keys() & windowed.windows
            numbers = {number for window in met for number in self._windows_of_wholes[window]}
            possible = sorted(numbers.union(possible))
        for each, folded in map(self._wholes.__getitem__, possible):
            if each.value in found or folded not in windowed.text:
                continue
            # Most values are not in the text, so most patterns are never compiled.
            if _whole(each).search(windowed.reading.text):
                found[each.value] = Found(kind=each.kind, how=windowed.reading.how, value=each.value)

    def _add(self, each: Canary, text: str, turned: str) -> None:
        folded, place = text.lower(), (len(self._parts),)
        starts = _starts(text)
        windows = {folded[start : start + WINDOW] for start in starts}
        self._known |= {digest(window) for window in windows}
        all_of_it = len(starts) == len(text) - WINDOW + 1
        self._parts.append((each, folded, turned, None if all_of_it else frozenset(windows)))
        for start in range(0, len(text) - WINDOW + 1, STRIDE):
            window = folded[start : start + WINDOW]
            self._some_windows[window] = self._some_windows.get(window, ()) + place

    def _add_whole(self, each: Canary) -> None:
        number, folded = len(self._wholes), each.value.lower()
        self._wholes.append((each, folded))
        if len(folded) < RUN:
            self._short_wholes.append(number)
            return
        # A text with the value contains one of its last STRIDE windows. JWTs and others begin alike.
        end = folded[-RUN:]
        windows = [end[place : place + WINDOW] for place in range(STRIDE)]
        self._known.update(digest(window) for window in windows)
        for window in windows:
            self._windows_of_wholes.setdefault(window, []).append(number)

    def _find_parts(self, windowed: Windows, found: dict[str, Found]) -> None:
        text, known = windowed.text, self._known
        for place, window, digest in zip(windowed.places, windowed.windows, windowed.digests, strict=True):
            if digest not in known:
                continue
            for number in sorted(self._near(text, place)):
                each, part, turned, windows = self._parts[number]
                looked_up = windows is None or window in windows
                if looked_up and each.value not in found and _is_in_a_run(text, place, part):
                    how = turned or windowed.reading.how
                    found[each.value] = Found(kind=each.kind, how=how, value=each.value)

    def _near(self, text: str, place: int) -> set[int]:
        """The parts that may have a run of the text with the window at this place.

        Such a run contains one of the parts' windows that are kept, and begins near this window.
        """
        some, near = self._some_windows, range(max(place - STRIDE + 1, 0), place + STRIDE)
        return {number for start in near for number in some.get(text[start : start + WINDOW], ())}


def _starts(text: str) -> Sequence[int]:
    """Where the windows of a secret begin that are looked up."""
    every = range(len(text) - WINDOW + 1)
    if _WORDS.search(text) is None:
        return every
    return [start for start in every if not _WORDS.match(text, start)]


@lru_cache(maxsize=4096)
def _whole(each: Canary) -> re.Pattern[str]:
    if len(each.value) < RUN and not each.is_name:
        return as_a_value(each.value)
    whole = rf"(?<![A-Za-z0-9]){re.escape(each.value)}(?![A-Za-z0-9])"
    if len(each.value) < RUN:
        # A longer name may contain a short one as one of its words.
        whole = rf"(?<![A-Za-z0-9][._-]){whole}(?![._-][A-Za-z0-9])"
    return re.compile(whole, re.IGNORECASE)


def search_all(canary_sets: Iterable[CanarySet], text: str) -> list[Found]:
    """Every canary of several sets in the text, each once; the text is decoded once."""
    decoded, found = [Windows(reading) for reading in readings(text)], dict[str, Found]()
    # Most texts contain none; one test for the windows of all decodings is fastest.
    digests = {digest for windowed in decoded for digest in windowed.digests}
    possible = [canary_set for canary_set in canary_sets if canary_set.may_find_in(digests)]
    for windowed in decoded if possible else ():
        for canary_set in possible:
            canary_set.find_in(windowed, found)
    return list(found.values())


def carries(exchange: Exchange, secret: Secret) -> str | None:
    """The part of the answer that contains the secret in any encoding; None if there is none."""
    if exchange.answer is None:
        return None
    forms = [form for form in embedded(secret.reveal()) if len(form) >= 8]
    for header, value in exchange.answer.headers:
        if any(form in value for form in forms):
            return f"header {header}"
    text = exchange.answer.text()
    return "body" if any(form in text for form in forms) else None


def party(exchange: Exchange) -> str:
    """Who sent the request, by its endpoint: checks name their steps freely."""
    if is_redemption(exchange) or is_proxy_token_request(exchange):
        return "backend"
    return "browser" if exchange.step == "browser" else "agent"


def is_redemption(exchange: Exchange) -> bool:
    return _path(exchange).endswith("/api/credentials/token")


def is_proxy_token_request(exchange: Exchange) -> bool:
    request = exchange.request
    return _path(exchange).endswith("/oauth2/token") and b"client_credentials" in request.body


def received(exchange: Exchange) -> list[tuple[str, str]]:
    """All parts of all answers to a request: name and text."""
    answers = [*exchange.retries, *([exchange.answer] if exchange.answer is not None else [])]
    return [part for answer in answers for part in _parts(answer)]


def sent(exchange: Exchange) -> str:
    """The whole of a request as text."""
    request = exchange.request
    lines = [request.url, *(f"{key}: {value}" for key, value in request.headers)]
    return "\n".join([*lines, request.body.decode("latin-1"), *_in_tokens(request)])


def _in_tokens(request: Request) -> Iterator[str]:
    """Header and claims of the JWTs in Authorization headers: an answer may name what it refuses there."""
    for name, value in request.headers:
        token = read(value.rpartition(" ")[2]) if name.lower() == "authorization" else None
        if token is not None:
            yield from strings_in([dict(token.header), dict(token.claims)])


def _parts(answer: Answer) -> list[tuple[str, str]]:
    headers = [(f"header {key}", f"{key}: {value}") for key, value in answer.headers]
    return [("status line", answer.phrase), *headers, ("body", text_of(answer.body))]


def _path(exchange: Exchange) -> str:
    return urlsplit(exchange.request.url).path.rstrip("/")


def _is_in_a_run(text: str, place: int, part: str) -> bool:
    """True if the window at this place is in a run of the text that the part contains and that is a leak."""
    window = text[place : place + WINDOW]
    at = part.find(window)
    while at >= 0:
        for before in range(min(at, place, RUN - WINDOW) + 1):
            run = part[at - before : at - before + RUN]
            if len(run) == RUN and text.startswith(run, place - before):
                return True
        at = part.find(window, at + 1)
    return False
