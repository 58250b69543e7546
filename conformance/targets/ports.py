"""Free ports in a target file: `{port}` and `{port:NAME}` are drawn when the target is launched."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

_PORT = re.compile(r"\{port(?::([A-Za-z0-9_.-]+))?\}")


def has_port(value: Any) -> bool:
    """True if a string in this value has a port to draw."""
    return any(_PORT.search(text) for text in _strings(value))


def with_ports(value: Any, draw: Callable[[], int]) -> Any:
    """The same value with ports; one name is one port throughout."""
    drawn: dict[str, str] = {}

    def port(found: re.Match[str]) -> str:
        name = found[1] or ""
        if name not in drawn:
            drawn[name] = str(draw())
        return drawn[name]

    def filled(value: Any) -> Any:
        match value:
            case str():
                return _PORT.sub(port, value)
            case dict():
                return {key: filled(each) for key, each in value.items()}
            case list():
                return [filled(each) for each in value]
            case _:
                return value

    return filled(value)


def may_run_twice(document: Mapping[str, Any]) -> bool:
    """True if a launched target can be started more than once: each of its addresses has a port to draw."""
    if "launch" not in document or "files" in document.get("logs", {}):
        return False
    if document.get("sign_in", {}).get("kind") == "manual":
        return False
    return all(map(has_port, _addresses(document)))


def _addresses(document: Mapping[str, Any]) -> Iterator[Any]:
    """Every listen address, where two instances would collide."""
    keys = {
        "target": ("base_url", "core_url", "service_url", "metadata_url"),
        "launch": ("ready_url",),
        "control": ("url", "command"),
    }
    for table, names in keys.items():
        yield from (document[table][name] for name in names if name in document.get(table, {}))
    for place in ("merchant", "world"):
        table = document.get(place, {})
        free = str(table.get("listen", ":0")).endswith(":0")
        if not free or "public_url" in table:
            yield from (table[name] for name in ("listen", "public_url") if name in table)


def _strings(value: Any) -> Iterator[str]:
    match value:
        case str():
            yield value
        case dict():
            for each in value.values():
                yield from _strings(each)
        case list():
            for each in value:
                yield from _strings(each)
