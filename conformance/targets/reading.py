"""Reads a TOML table key by key; errors use the words of TOML."""

from __future__ import annotations

import datetime
import difflib
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from gateproof.conformance.targets.errors import TargetError, UnknownKeyError

if TYPE_CHECKING:
    from pathlib import Path

_SECRET_NAME = re.compile(r"secret|passw|token|credential|api_?key", re.IGNORECASE)

# bool is a subclass of int in Python, so it comes first.
_TOML_TYPES: tuple[tuple[type, str], ...] = (
    (bool, "a boolean"),
    (int, "an integer"),
    (float, "a float"),
    (str, "a string"),
    (list, "an array"),
    (dict, "a table"),
    (datetime.date, "a date or time"),
    (datetime.time, "a date or time"),
)


@dataclass(frozen=True, kw_only=True, slots=True)
class At:
    """A place in a target file, and what is needed to read a value there."""

    file: str
    folder: Path
    env: Mapping[str, str] = field(repr=False)
    table: str = ""
    key: str = ""

    def into(self, table: str) -> At:
        return replace(self, table=table, key="")

    def on(self, key: str) -> At:
        return replace(self, key=key)

    @property
    def label(self) -> str:
        return f"{self.table} {self.key}".strip()

    def wrong(self, found: str, expected: str, hint: str = "") -> TargetError:
        return TargetError(self.file, self.label, found, expected, hint=hint)


@dataclass(frozen=True, kw_only=True, slots=True)
class Kind:
    """The type of a key: a description, and a function that reads the value."""

    expects: str
    read: Callable[[Any, At], Any]


@dataclass(frozen=True, kw_only=True, slots=True)
class Key:
    """One key of a table."""

    kind: Kind
    required: bool = False


Keys = Mapping[str, Key]
Make = Callable[[dict[str, Any], At], Any]


def must(kind: Kind) -> Key:
    return Key(kind=kind, required=True)


def may(kind: Kind) -> Key:
    return Key(kind=kind)


def toml_type(value: object) -> str:
    """The TOML type of a value, without the value itself: it may be a credential."""
    if value in ("", []):
        return "an empty string" if value == "" else "an empty array"
    if isinstance(value, list) and isinstance(value[0], dict):
        return "an array of tables"
    return next((name for kind, name in _TOML_TYPES if isinstance(value, kind)), "something else")


def quoted(text: str) -> str:
    """A string in quotes, shortened and on one line."""
    shown = text if len(text) <= 60 else text[:57] + "..."
    return "'" + "".join(c if c.isprintable() else "?" for c in shown) + "'"


def read_table(value: Any, at: At, keys: Keys, elsewhere: Mapping[str, str] | None = None) -> dict[str, Any]:
    """The parsed values of the given keys; an unknown or missing key is an error."""
    if not isinstance(value, dict):
        raise at.wrong(toml_type(value), "a table")
    for key in value:
        if key not in keys:
            raise _unknown(key, at, tuple(keys), (elsewhere or {}).get(key))
    for name, key in keys.items():
        if key.required and name not in value:
            raise at.on(name).wrong("nothing", key.kind.expects)
    return {name: key.kind.read(value[name], at.on(name)) for name, key in keys.items() if name in value}


def table(name: str, keys: Keys, make: Make) -> Kind:
    """A table that is read and converted by `make`."""

    def read(value: Any, at: At) -> Any:
        inside = at.into(f"[{name}]")
        return make(read_table(value, inside, keys), inside)

    return Kind(expects=f"a table [{name}]", read=read)


def tables(name: str, keys: Keys, make: Make) -> Kind:
    """An array of tables, each converted by `make`."""
    expects = f"an array of tables [[{name}]]"

    def read(value: Any, at: At) -> Any:
        if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
            raise at.wrong(toml_type(value), expects)
        made = []
        for number, item in enumerate(value, start=1):
            inside = at.into(f"[[{name}]]" + (f" number {number}" if len(value) > 1 else ""))
            made.append(make(read_table(item, inside, keys), inside))
        return tuple(made)

    return Kind(expects=expects, read=read)


def _unknown(key: str, at: At, known: tuple[str, ...], elsewhere: str | None) -> UnknownKeyError:
    if elsewhere is not None:
        hint = elsewhere
    elif (variable := _environment_key(key, known)) is not None:
        hint = f"secrets come from environment variables only: name the variable in '{variable}'"
    elif _SECRET_NAME.search(key):
        hint = f"secrets come from environment variables only; known here: {', '.join(known)}"
    else:
        nearest = difflib.get_close_matches(key, known, n=1, cutoff=0.6)
        others = difflib.get_close_matches(key, known, n=1, cutoff=0.0)
        hint = (
            f"did you mean '{nearest[0]}'?"
            if nearest
            else f"the nearest known key is '{(others or known)[0]}'"
        )
    return UnknownKeyError(at.file, at.table or "the file", key, known, hint=hint)


def _environment_key(key: str, known: tuple[str, ...]) -> str | None:
    """The key that was probably meant: the one for the name of an environment variable."""
    if not _SECRET_NAME.search(key) or key.endswith("_env"):
        return None
    candidates = [name for name in known if name.endswith("_env")]
    return next(iter(difflib.get_close_matches(f"{key}_env", candidates, n=1, cutoff=0.0)), None)
