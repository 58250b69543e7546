"""What defects and variants have in common: a row of text, and the policies that differ."""

from __future__ import annotations

import importlib
import pkgutil
import re
from collections.abc import Iterable
from typing import Literal, Protocol, TypeVar

_ROW = re.compile(r"(?P<name>\S+)(?: \((?P<rules>[A-Z]+-\d\d(?: [A-Z]+-\d\d)*)\))?: (?P<what>.+)")
# How a service is called: by plain HTTP or as an MCP server.
Operation = Literal["http", "mcp"]


class Named(Protocol):
    """A defect or a variant."""

    @property
    def name(self) -> str: ...


T = TypeVar("T", bound=Named)


def parsed(row: str) -> tuple[str, tuple[str, ...], str]:
    """The name, the rules and the sentence of a row like `name (RULE-01 RULE-02): What it does.`."""
    found = _ROW.fullmatch(row)
    if found is None:
        raise ValueError(f"not of the form 'name (RULES): What it does.': {row!r}")
    return found["name"], tuple((found["rules"] or "").split()), found["what"]


def collected(package: str, folder: Iterable[str], constant: str, kind: type[T]) -> dict[str, T]:
    """Defects or variants of all modules of a package, in the order of the modules; names are unique."""
    by_name: dict[str, T] = {}
    for module in sorted(pkgutil.iter_modules(folder), key=lambda each: each.name):
        family: tuple[T, ...] = getattr(importlib.import_module(f"{package}.{module.name}"), constant, ())
        for each in family:
            if each.name in by_name:
                raise ValueError(f"{each.name} stands in {module.name} and in another module of {package}")
            if not isinstance(each, kind):
                raise TypeError(f"{module.name} holds a {type(each).__name__} in {constant}")
            by_name[each.name] = each
    return by_name
