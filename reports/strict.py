"""Decodes JSON values into frozen dataclasses; refuses unknown keys and wrong types."""

from __future__ import annotations

import types
from collections.abc import Callable, Mapping
from dataclasses import MISSING, fields
from enum import StrEnum
from functools import cache
from typing import Any, TypeVar, Union, cast, get_args, get_origin, get_type_hints

Value = TypeVar("Value")
_Reader = Callable[[Any], Any]


class Malformed(ValueError):
    """A value has the wrong type or key; the text says where, what was found and what was expected."""

    def __init__(self, problem: str, where: str = "") -> None:
        self.problem = problem
        self.where = where
        super().__init__(f"{where}: {problem}" if where else problem)

    def inside(self, outer: str) -> Malformed:
        """The same problem with the path of the outer value in front."""
        dot = "." if self.where and not self.where.startswith("[") else ""
        return Malformed(self.problem, f"{outer}{dot}{self.where}")


def decode(kind: type[Value], value: object, where: str = "") -> Value:
    """The value as `kind`: a dataclass, an enumeration, a tuple, a mapping or a plain type."""
    try:
        found: Value = _reader(cast("Any", kind))(value)
    except Malformed as problem:
        raise (problem.inside(where) if where else problem) from None
    return found


@cache
def _reader(kind: Any) -> _Reader:
    """The reader for a type; cached, because a record has thousands of values."""
    origin, arguments = get_origin(kind), get_args(kind)
    if kind is Any:
        return lambda value: value
    if origin in {Union, types.UnionType}:
        given = _reader(next(option for option in arguments if option is not type(None)))
        return lambda value: None if value is None else given(value)
    if origin is tuple:
        return _list_reader(arguments)
    if origin is not None and issubclass(origin, Mapping):
        return _object_reader(_reader(arguments[1]))
    if hasattr(kind, "__dataclass_fields__"):
        return _dataclass_reader(kind)
    if issubclass(kind, StrEnum):
        return _choice_reader(kind)
    return _plain_reader(kind)


def _plain_reader(kind: type) -> _Reader:
    expected = {str: "a text", bool: "true or false"}.get(kind, "a number")

    def read(value: Any) -> Any:
        # Not isinstance: in Python a boolean is a number.
        if type(value) is kind:
            return value
        if kind is float and type(value) is int:
            return float(value)
        raise _wrong(value, expected)

    return read


def _choice_reader(kind: type[StrEnum]) -> _Reader:
    known = {member.value: member for member in kind}

    def read(value: Any) -> StrEnum:
        if not isinstance(value, str) or value not in known:
            raise _wrong(value, f"one of {', '.join(known)}")
        return known[value]

    return read


def _list_reader(kinds: tuple[Any, ...]) -> _Reader:
    every = _reader(kinds[0]) if kinds[-1] is ... else None
    each = [] if every is not None else [_reader(kind) for kind in kinds]

    def read(value: Any) -> tuple[Any, ...]:
        if not isinstance(value, list):
            raise _wrong(value, "a list")
        readers = [every] * len(value) if every is not None else each
        if len(readers) != len(value):
            raise _wrong(value, f"a list of {len(readers)}")
        found: list[Any] = []
        try:
            for reader, item in zip(readers, value, strict=True):
                found.append(reader(item))
        except Malformed as problem:
            raise problem.inside(f"[{len(found)}]") from None
        return tuple(found)

    return read


def _object_reader(reader: _Reader) -> _Reader:
    def read(value: Any) -> dict[str, Any]:
        if not isinstance(value, dict):
            raise _wrong(value, "an object")
        return {key: _member(reader, key, item) for key, item in value.items()}

    return read


def _dataclass_reader(kind: Any) -> _Reader:
    hints = get_type_hints(kind)
    readers = {field.name: _reader(hints[field.name]) for field in fields(kind)}
    required = {
        field.name for field in fields(kind) if field.default is MISSING and field.default_factory is MISSING
    }

    def read(value: Any) -> Any:
        if not isinstance(value, dict):
            raise _wrong(value, "an object")
        if unknown := sorted(value.keys() - readers.keys()):
            raise Malformed("unknown key", unknown[0])
        if missing := sorted(required - value.keys()):
            raise Malformed("missing", missing[0])
        return kind(**{key: _member(readers[key], key, item) for key, item in value.items()})

    return read


def _member(reader: _Reader, key: str, value: Any) -> Any:
    try:
        return reader(value)
    except Malformed as problem:
        raise problem.inside(key) from None


def _wrong(value: Any, expected: str) -> Malformed:
    """Names the type that was found, not the value, which may be long or hostile."""
    names = {dict: "an object", list: "a list", str: "a text", bool: "true or false", type(None): "nothing"}
    return Malformed(f"found {names.get(type(value), 'a number')}, expected {expected}")
