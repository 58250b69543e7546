"""Parses the challenges of a WWW-Authenticate header (RFC 9110, section 11)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

_TOKEN = r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+"  # noqa: S105 - a pattern
_PARAMETER = re.compile(rf'\s*({_TOKEN})\s*=\s*(?:"((?:[^"\\]|\\.)*)"|({_TOKEN}[^\s,"]*))\s*(?=,|$)')
_SCHEME = re.compile(rf"\s*({_TOKEN})(?=\s|,|$)")
_TOKEN68 = re.compile(r" +([A-Za-z0-9\-._~+/]+=*)\s*(?=,|$)")
_COMMAS = re.compile(r"[\s,]*")
# A lenient pattern, like that of agents, for headers with unescaped quotes inside a quoted string.
_PICKED = re.compile(rf'(?<=[\s,])({_TOKEN})=(?:"([^"]*)"|([^\s,"]+))')


@dataclass(frozen=True, kw_only=True, slots=True)
class Challenge:
    """One scheme with its parameters; their names are in lower case."""

    scheme: str
    parameters: Mapping[str, str]


def challenges(value: str) -> list[Challenge]:
    """The challenges in order, up to the point where the header cannot be parsed any more.

    Unquoted values may contain characters that need quotes, such as the colon of a URL: agents accept that.
    After a syntax error, further parameters count for the last challenge: agents find them, too.
    """
    return list(_challenges(value))


def _challenges(value: str) -> Iterator[Challenge]:
    place = _next(value, 0)
    while place < len(value):
        scheme = _SCHEME.match(value, place)
        if scheme is None:
            return
        place = scheme.end()
        parameters: dict[str, str] = {}
        token68 = _TOKEN68.match(value, place)
        if token68 is not None and _PARAMETER.match(value, place) is None:
            place = token68.end()
        while (found := _PARAMETER.match(value, _next(value, place))) is not None:
            name, quoted, bare = found.groups()
            parameters.setdefault(name.lower(), bare if quoted is None else re.sub(r"\\(.)", r"\1", quoted))
            place = found.end()
        place = _next(value, place)
        if place < len(value) and _SCHEME.match(value, place) is None:
            for name, quoted, bare in _PICKED.findall(value, place):
                parameters.setdefault(name.lower(), quoted or bare)
        yield Challenge(scheme=scheme[1], parameters=parameters)


def _next(value: str, place: int) -> int:
    """The position after commas and whitespace."""
    found = _COMMAS.match(value, place)
    return found.end() if found is not None else place
