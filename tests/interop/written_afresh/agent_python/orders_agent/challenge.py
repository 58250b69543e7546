"""Reads WWW-Authenticate: which challenges there are, and where the Bearer challenge points."""

from __future__ import annotations

import re
from collections.abc import Iterator

# A scheme, or a parameter with a quoted or a bare value. Bare values may hold what addresses consist of.
_PART = re.compile(
    r"""\s*,?\s*(?:
        (?P<name>[\w!#$%&'*+.^`|~-]+)\s*=\s*(?:"(?P<quoted>(?:[^"\\]|\\.)*)"|(?P<bare>[^\s,"]+))
        |(?P<scheme>[\w!#$%&'*+.^`|~-]+)
    )(?=[\s,]|$)""",
    re.VERBOSE,
)


def _challenges(header: str) -> Iterator[tuple[str, dict[str, str]]]:
    scheme, parameters, position = "", {}, 0
    while part := _PART.match(header, position):
        position = part.end()
        if part["scheme"]:
            if scheme:
                yield scheme, parameters
            scheme, parameters = part["scheme"].lower(), {}
        else:
            value = part["bare"] if part["quoted"] is None else re.sub(r"\\(.)", r"\1", part["quoted"])
            parameters.setdefault(part["name"].lower(), value)
    if scheme:
        yield scheme, parameters


def metadata_address(headers: list[str]) -> str | None:
    for header in headers:
        for scheme, parameters in _challenges(header):
            if scheme == "bearer" and "resource_metadata" in parameters:
                return parameters["resource_metadata"]
    return None
