"""Finding secrets in what came back, whatever was done to them on the way."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from urllib.parse import urlsplit

from gateproof.conformance.wire.exchange import Answer, Exchange
from gateproof.conformance.wire.jose import read
from gateproof.conformance.wire.secret import Secret
from gateproof.reports.decoders import Reading, readings, text_of
from gateproof.reports.encodings import as_a_value, embedded

# As many consecutive characters of a secret as make a leak.
RUN = 16
# Any run of 16 characters has a window of 8 that begins at a multiple of 9: only those are looked up.
WINDOW = 8
STRIDE = RUN - WINDOW + 1
# Of a very long secret, its beginning and its end stand for the whole: that is what leaks have.
_ENDS = 96
_SHORTEST = 8
# A shorter value with letters and digits in it may stand anywhere by chance.
_SHORTEST_MIXED = 6
# How a text is read that anybody reads who opens it.
PLAIN = frozenset({"as it is", "percent-encoded", "JSON-escaped", "split by white space"})
# A window without a digit in letters of one case: words read like that, and secrets hardly ever do.
_WORDS = re.compile(r"[a-z_\-. :/]{8}|[A-Z_\-. :/]{8}")


@dataclass(frozen=True, kw_only=True, slots=True)
class Canary:
    """A value that must not turn up, and the parts of it that nobody could know otherwise.

    A canary without such parts is looked for as a whole: one that is short where it is a whole value.
    """

    kind: str
    value: str = field(repr=False)
    parts: tuple[str, ...] = field(repr=False, default=())
    is_name: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class Found:
    """A canary that turned up, and how it was written."""

    kind: str
    how: str
    value: str = field(repr=False)


def canary(kind: str, value: str, *, public: Iterable[str] = ()) -> Canary:
    """A secret with the parts of it that are secret: of a JWT the signature, of the rest what names leave.

    A JWT's `jti` is none of them: it names the token, as an audit log should, and opens nothing.
    """
    jwt = read(value)
    parts = [value] if jwt is None else [value.rpartition(".")[2]]
    for name in public:
        if len(name) >= _SHORTEST and name in value:
            parts = [piece for part in parts for piece in part.split(name)]
    return Canary(kind=kind, value=value, parts=tuple(part for part in parts if len(part) >= RUN))


def name(kind: str, value: str) -> Canary | None:
    """An identifier that is looked for as a whole; None for one that could stand anywhere by chance."""
    return Canary(kind=kind, value=value, is_name=True) if is_distinct(value) else None


def is_distinct(value: str) -> bool:
    """True for what is no word: a value that can be looked for without taking something else for it."""
    mixed = any(map(str.isdigit, value)) and any(map(str.isalpha, value))
    return len(value) >= RUN or (len(value) >= _SHORTEST_MIXED and mixed)


class Cut:
    """One reading of a text, without its case, in the pieces that are looked up."""

    def __init__(self, reading: Reading) -> None:
        self.reading = reading
        self.text = text = reading.text.lower()
        self.places = range(0, len(text) - WINDOW + 1, STRIDE)
        self.windows = {text[place : place + WINDOW] for place in self.places}


class Hoard:
    """Many canaries, looked for in one go."""

    def __init__(self, canaries: Iterable[Canary] = ()) -> None:
        self._parts: list[tuple[Canary, str, str]] = []
        self._windows: dict[str, list[int]] = {}
        # The same once more: two sets have nothing in common sooner than a set and a mapping.
        self._known: set[str] = set()
        self._wholes: list[tuple[Canary, str]] = []
        # Which wholes a window of a text may belong to, and those that are too short to have such windows.
        self._windows_of_wholes: dict[str, list[int]] = {}
        self._short_wholes: list[int] = []
        self.add(canaries)

    def add(self, canaries: Iterable[Canary]) -> None:
        """More to look for: to begin anew would cost more than to look."""
        for each in canaries:
            for part in each.parts:
                for piece in (part[:_ENDS], part[-_ENDS:]) if len(part) > 2 * _ENDS else (part,):
                    self._add(each, piece, "")
                self._add(each, part[:_ENDS][::-1], "backwards")
            wordy = any(_WORDS.search(part) for part in each.parts)
            if (wordy or not each.parts) and is_distinct(each.value):
                self._add_whole(each)

    def search(self, text: str) -> list[Found]:
        """Every canary in the text, once each, in whatever encoding."""
        return search_all((self,), text)

    def found_in(self, cut: Cut) -> Iterator[Found]:
        """The canaries that stand in one reading of a text."""
        for each, turned in self._in(cut):
            yield Found(kind=each.kind, how=turned or cut.reading.how, value=each.value)

    def _add(self, each: Canary, text: str, turned: str) -> None:
        number = len(self._parts)
        folded, wordy = text.lower(), _WORDS.search(text) is not None
        self._parts.append((each, folded, turned))
        for place in range(len(text) - WINDOW + 1):
            if not (wordy and _WORDS.match(text, place)):
                window = folded[place : place + WINDOW]
                self._windows.setdefault(window, []).append(number)
                self._known.add(window)

    def _add_whole(self, each: Canary) -> None:
        number, folded = len(self._wholes), each.value.lower()
        self._wholes.append((each, folded))
        if len(folded) < RUN:
            self._short_wholes.append(number)
            return
        # A text that has the value has one of its first windows: a run is as long as it takes to meet one.
        for place in range(STRIDE):
            self._windows_of_wholes.setdefault(folded[place : place + WINDOW], []).append(number)

    def _in(self, cut: Cut) -> Iterator[tuple[Canary, str]]:
        text, windows = cut.text, self._windows
        # Nearly always there is none, which is seen soonest for all of them at once.
        there = not self._known.isdisjoint(cut.windows)
        for place in cut.places if there else ():
            for number in windows.get(text[place : place + WINDOW], ()):
                each, part, turned = self._parts[number]
                if _run_around(text, place, part) >= RUN:
                    yield each, turned
        for each, folded in map(self._wholes.__getitem__, self._wholes_that_may_be_in(cut)):
            # Nearly every text lacks nearly every value, and most patterns are never made.
            if folded in text and _whole(each).search(cut.reading.text):
                yield each, ""

    def _wholes_that_may_be_in(self, cut: Cut) -> Iterable[int]:
        met = cut.windows & self._windows_of_wholes.keys()
        numbers = {number for window in met for number in self._windows_of_wholes[window]}
        return sorted(numbers.union(self._short_wholes))


@lru_cache(maxsize=4096)
def _whole(each: Canary) -> re.Pattern[str]:
    if len(each.value) < RUN and not each.is_name:
        return as_a_value(each.value)
    whole = rf"(?<![A-Za-z0-9]){re.escape(each.value)}(?![A-Za-z0-9])"
    if len(each.value) < RUN:
        # A longer name that is put together from words may have a short one in it.
        whole = rf"(?<![A-Za-z0-9][._-]){whole}(?![._-][A-Za-z0-9])"
    return re.compile(whole, re.IGNORECASE)


def search_all(hoards: Iterable[Hoard], text: str) -> list[Found]:
    """Every canary of several hoards in the text, once each; the text is read once for all of them."""
    hoards, found = tuple(hoards), dict[str, Found]()
    for cut in map(Cut, readings(text)):
        for hoard in hoards:
            for each in hoard.found_in(cut):
                found.setdefault(each.value, each)
    return list(found.values())


def carries(exchange: Exchange, secret: Secret) -> str | None:
    """Where an answer holds the secret, in any encoding: the part of it; None when it does not."""
    if exchange.answer is None:
        return None
    forms = [form for form in embedded(secret.reveal()) if len(form) >= 8]
    for header, value in exchange.answer.headers:
        if any(form in value for form in forms):
            return f"header {header}"
    text = exchange.answer.text()
    return "body" if any(form in text for form in forms) else None


def party(exchange: Exchange) -> str:
    """On whose behalf the request was made: by what it asks for, since every check may write its own."""
    if is_redemption(exchange) or is_proxy_token_request(exchange):
        return "backend"
    return "browser" if exchange.step == "browser" else "agent"


def is_redemption(exchange: Exchange) -> bool:
    return _path(exchange).endswith("/api/credentials/token")


def is_proxy_token_request(exchange: Exchange) -> bool:
    request = exchange.request
    return _path(exchange).endswith("/oauth2/token") and b"client_credentials" in request.body


def received(exchange: Exchange) -> list[tuple[str, str]]:
    """Every part of every answer to a request, with its name, as text."""
    answers = [*exchange.retries, *([exchange.answer] if exchange.answer is not None else [])]
    return [part for answer in answers for part in _parts(answer)]


def sent(exchange: Exchange) -> str:
    """The whole of a request as text."""
    request = exchange.request
    lines = [request.url, *(f"{key}: {value}" for key, value in request.headers)]
    return "\n".join([*lines, request.body.decode("latin-1")])


def _parts(answer: Answer) -> list[tuple[str, str]]:
    headers = [(f"header {key}", f"{key}: {value}") for key, value in answer.headers]
    return [("status line", answer.phrase), *headers, ("body", text_of(answer.body))]


def _path(exchange: Exchange) -> str:
    return urlsplit(exchange.request.url).path.rstrip("/")


def _run_around(text: str, place: int, part: str) -> int:
    """The longest run that the text at this place has in common with the part."""
    window, longest = text[place : place + WINDOW], 0
    at = part.find(window)
    while at >= 0:
        before = 0
        while before < min(at, place) and part[at - before - 1] == text[place - before - 1]:
            before += 1
        after = WINDOW
        while (
            at + after < len(part) and place + after < len(text) and part[at + after] == text[place + after]
        ):
            after += 1
        longest = max(longest, before + after)
        at = part.find(window, at + 1)
    return longest
