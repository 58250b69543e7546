"""Decodes a text layer by layer, to find secrets inside encodings."""

from __future__ import annotations

import binascii
import html
import re
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from html.entities import html5
from urllib.parse import unquote

DEPTH = 3
# The shortest encodings of 16 characters of a secret.
_BASE64 = re.compile(r"[A-Za-z0-9+/_-]{22,}")
_HEX = re.compile(r"[0-9a-fA-F]{32,}")
# Octets as numbers, as languages print them: [101, 121], [101 121], {"0": 101, "1": 121}, 65:79, 0x65 0x79.
_NUMBERS = re.compile(r"(?<![\w.])\d{1,3}(?:[,;\s]+\d{1,3}){15,}(?![\w.])")
_INDEXED = re.compile(r"(?:\"\d{1,6}\"\s*:\s*\d{1,3}\s*,\s*){15,}\"\d{1,6}\"\s*:\s*\d{1,3}")
_DIGITS, _PAIR = re.compile(r"\d+"), re.compile(r"(?:0x)?([0-9a-fA-F]{2})")
_VALUE = re.compile(r":\s*(\d{1,3})")
_PAIRS = re.compile(r"(?<![\w.])(?:0x)?[0-9a-fA-F]{2}(?:[,;:\s-]+(?:0x)?[0-9a-fA-F]{2}){15,}(?![\w.])")
# All of these have many short numbers with something between them. Such characters are rarer in a text than
# digits, so this is a fast way to see that there are none.
# It begins with one such character, because a search for one of a set of characters is fastest.
_SOME_NUMBER = r'(?:\\?"|0x)?[0-9a-fA-F]{1,6}(?:\\?")?'
_SOME_NUMBERS = re.compile(rf"[,;:\s-]{_SOME_NUMBER}(?:[,;:\s-]++{_SOME_NUMBER}){{14}}")
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|([/\"'\\]))")
_SPACE = re.compile(r"(?:\\[nrt]|[\s\x00])+")
_MOST_OCTETS = 4 * 1024 * 1024
# Decoded random data has no such runs; searching it further costs much time and finds nothing.
_LEGIBLE = re.compile(rb"[\x20-\x7e\s]{16,}")
_GZIP = b"\x1f\x8b\x08"
# A name without a semicolon is read as a character, too, but only some names are.
_WITHOUT_END = "|".join(sorted(re.escape(name) for name in html5 if not name.endswith(";")))
# Most ampersands are between the parameters of a URL; to let `html` find that out is slow.
_CHARACTER = re.compile(rf"&(?:#[0-9xX]|[A-Za-z][A-Za-z0-9]{{1,30}};|{_WITHOUT_END})")
# Longer runs of base64 are not kept: they would fill the memory.
_LONGEST_KEPT = 1024
_COMPRESSED = (b"\x1f\x8b", b"\x78\x01", b"\x78\x5e", b"\x78\x9c", b"\x78\xda")


@dataclass(frozen=True, kw_only=True, slots=True)
class Reading:
    """One decoded form of a text, and the encodings that were undone."""

    how: str
    text: str


def readings(text: str) -> Iterator[Reading]:
    """The text itself, and every text decoded from it; bytes are read as Latin-1."""
    yield Reading(how="as it is", text=text)
    known, decoded = {text}, set[str]()
    layer = [Reading(how="", text=text)]
    for _ in range(DEPTH):
        found = []
        for outer in layer:
            for how, inner in _undone(outer.text, decoded):
                if inner not in known:
                    known.add(inner)
                    found.append(Reading(how=f"{outer.how}, {how}" if outer.how else how, text=inner))
        yield from found
        layer = found


def _undone(text: str, decoded: set[str]) -> Iterator[tuple[str, str]]:
    if "%" in text:
        yield "percent-encoded", unquote(text, encoding="latin-1")
    if "\\" in text:
        yield "JSON-escaped", _ESCAPE.sub(_character, text)
    if "&" in text and _CHARACTER.search(text):
        yield "HTML-escaped", html.unescape(text)
    joined = _without_space(text)
    if joined != text:
        yield "split by white space", joined
    new = [run for run in dict.fromkeys(_BASE64.findall(text)) if run not in decoded]
    if new:
        decoded.update(new)
        yield from _runs([_kept_run(run) if len(run) <= _LONGEST_KEPT else _run(run) for run in new], decoded)
    yield from _numbers(text, decoded)


def _without_space(text: str) -> str:
    # Without escapes, this is a tenth of the cost.
    return _SPACE.sub("", text) if "\\" in text else "".join(text.split()).replace("\x00", "")


@dataclass(frozen=True, kw_only=True, slots=True)
class _Run:
    """A run of base64, decoded; its hexadecimal digits, which are characters of base64, too."""

    legible: str
    gzip: tuple[bytes, ...]
    compressed: tuple[bytes, ...]
    hexadecimal: tuple[tuple[str, str], ...]


def _run(run: str) -> _Run:
    """Decodes a run of base64 at each of the four alignments; segments of a JWT are such runs."""
    pieces: list[bytes] = []
    plain = run.replace("-", "+").replace("_", "/")
    for start in range(4):
        end = len(plain) - ((len(plain) - start) % 4 == 1)
        pieces.append(binascii.a2b_base64(plain[start:end] + "=" * (-(end - start) % 4)))
    return _Run(
        legible=_legible(b"\0".join(pieces)),
        gzip=tuple(piece[piece.find(_GZIP) :] for piece in pieces if _GZIP in piece),
        compressed=tuple(piece for piece in pieces if piece.startswith(_COMPRESSED)),
        hexadecimal=tuple((digits, _from_hex(digits)) for digits in _HEX.findall(run)),
    )


# The same identifiers and the same heads of tokens are in many answers.
_kept_run = lru_cache(maxsize=2048)(_run)


def _from_hex(digits: str) -> str:
    return _legible(
        b"\0".join(bytes.fromhex(digits[start : start + (len(digits) - start) // 2 * 2]) for start in (0, 1))
    )


def _runs(runs: Sequence[_Run], decoded: set[str]) -> Iterator[tuple[str, str]]:
    yield "base64", _together(run.legible for run in runs)
    starts = [
        *(start for run in runs for start in run.gzip),
        *(start for run in runs for start in run.compressed),
    ]
    if opened := list(filter(None, map(inflated, starts))):
        yield "compressed in base64", _legible(b"\0".join(opened))
    hexadecimal = {digits: text for run in runs for digits, text in run.hexadecimal}
    new = {digits: text for digits, text in hexadecimal.items() if f"hex {digits}" not in decoded}
    if new:
        decoded.update(f"hex {digits}" for digits in new)
        yield "hex", _together(new.values())


def _together(legible: Iterable[str]) -> str:
    return "\0".join(filter(None, legible))


def _numbers(text: str, decoded: set[str]) -> Iterator[tuple[str, str]]:
    """Octets that are written as numbers, as programs print a buffer or write one in JSON."""
    if not _SOME_NUMBERS.search(text):
        return
    found = [
        *((run, map(int, _DIGITS.findall(run))) for run in _NUMBERS.findall(text)),
        *((run, map(int, _VALUE.findall(run))) for run in _INDEXED.findall(text)),
        *((run, (int(each, 16) for each in _PAIR.findall(run))) for run in _PAIRS.findall(text)),
    ]
    pieces: list[bytes] = []
    for run, numbers in found:
        key = f"numbers {run}"
        if key not in decoded:
            decoded.add(key)
            pieces.append(bytes(number if number < 256 else 0 for number in numbers))
    if pieces:
        yield "octets as numbers", _legible(b"\0".join(pieces))


def _legible(octets: bytes) -> str:
    return b"\0".join(_LEGIBLE.findall(octets)).decode("ascii")


def inflated(octets: bytes) -> bytes:
    """The decompressed gzip or deflate data; empty if it is not compressed."""
    try:
        return zlib.decompressobj(47).decompress(octets, _MOST_OCTETS)
    except zlib.error:
        return b""


def text_of(octets: bytes) -> str:
    """A body as text, decompressed if necessary, read as Latin-1."""
    plain = inflated(octets) if octets.startswith(_COMPRESSED) else b""
    return (plain or octets).decode("latin-1")


def _character(found: re.Match[str]) -> str:
    digits = found[1] or found[2]
    return chr(int(digits, 16)) if digits else found[3]
