"""Plain JSON values become frozen values: every key is known, every value has the right type."""

from __future__ import annotations

import types
from collections.abc import Mapping
from dataclasses import MISSING, fields
from enum import StrEnum
from functools import cache
from typing import Any, TypeVar, Union, get_args, get_origin, get_type_hints

Value = TypeVar("Value")


class Malformed(ValueError):
    """A value is not what its reader expects: says where, what was found and what was expected."""


def decode(kind: type[Value], value: object, where: str = "") -> Value:
    """The value as `kind`: a dataclass, an enumeration, a tuple, a mapping or a plain type."""
    found: Value = _decode(kind, value, where)
    return found


def _decode(kind: Any, value: Any, where: str) -> Any:
    origin = get_origin(kind)
    if kind is Any:
        return value
    if origin in {Union, types.UnionType}:
        options = [option for option in get_args(kind) if option is not type(None)]
        return None if value is None else _decode(options[0], value, where)
    if origin is tuple:
        return _tuple(get_args(kind), value, where)
    if origin is not None and issubclass(origin, Mapping):
        return _mapping(get_args(kind)[1], value, where)
    if hasattr(kind, "__dataclass_fields__"):
        return _dataclass(kind, value, where)
    if issubclass(kind, StrEnum):
        if value not in set(kind):
            raise _wrong(value, f"one of {', '.join(kind)}", where)
        return kind(value)
    return _plain(kind, value, where)


def _plain(kind: type, value: Any, where: str) -> Any:
    if kind is float and type(value) is int:
        return float(value)
    # Not isinstance: to Python a boolean is a number.
    if type(value) is not kind:
        raise _wrong(value, {"str": "a text", "bool": "true or false"}.get(kind.__name__, "a number"), where)
    return value


def _tuple(kinds: tuple[Any, ...], value: Any, where: str) -> tuple[Any, ...]:
    if not isinstance(value, list):
        raise _wrong(value, "a list", where)
    if kinds[-1] is ...:
        kinds = kinds[:1] * len(value)
    if len(kinds) != len(value):
        raise _wrong(value, f"a list of {len(kinds)}", where)
    return tuple(
        _decode(kind, item, f"{where}[{place}]")
        for place, (kind, item) in enumerate(zip(kinds, value, strict=True))
    )


def _mapping(kind: Any, value: Any, where: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise _wrong(value, "an object", where)
    return {str(key): _decode(kind, item, _inside(where, str(key))) for key, item in value.items()}


def _dataclass(kind: Any, value: Any, where: str) -> Any:
    if not isinstance(value, dict):
        raise _wrong(value, "an object", where)
    known, required = _shape(kind)
    if unknown := sorted(set(value) - set(known)):
        raise Malformed(f"{_inside(where, unknown[0])}: no such key is known")
    if missing := sorted(required - set(value)):
        raise Malformed(f"{_inside(where, missing[0])}: missing")
    return kind(**{key: _decode(known[key], item, _inside(where, key)) for key, item in value.items()})


@cache
def _shape(kind: Any) -> tuple[dict[str, Any], frozenset[str]]:
    """The types of a dataclass's fields by name, and the names of those that have no default."""
    hints = get_type_hints(kind)
    known = {field.name: hints[field.name] for field in fields(kind)}
    required = frozenset(
        field.name for field in fields(kind) if field.default is MISSING and field.default_factory is MISSING
    )
    return known, required


def _inside(where: str, key: str) -> str:
    return f"{where}.{key}" if where else key


def _wrong(value: Any, expected: str, where: str) -> Malformed:
    """Says what kind of thing was found, not the thing: it may be long, and it may be hostile."""
    names = {dict: "an object", list: "a list", str: "a text", bool: "true or false", type(None): "nothing"}
    return Malformed(f"{where}: found {names.get(type(value), 'a number')}, expected {expected}")
