"""Strict reading of the arguments of control actions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


class WrongArgument(ValueError):
    """An argument is wrong; the text names it and contains no value."""


class Arguments:
    """The members of a JSON object, which are taken one by one; `done` refuses the remaining ones."""

    def __init__(self, members: Mapping[str, Any], where: str = "") -> None:
        self._members = dict(members)
        self._where = where

    def text(self, name: str) -> str:
        value = self._take(name)
        if not isinstance(value, str) or not value:
            raise self._wrong(name, "a non-empty string")
        return value

    def text_or_null(self, name: str) -> str | None:
        value = self._members.pop(name, None)
        if value is not None and (not isinstance(value, str) or not value):
            raise self._wrong(name, "a non-empty string or null")
        return value

    def texts(self, name: str) -> tuple[str, ...]:
        values = self._take(name)
        if not isinstance(values, list) or not all(isinstance(value, str) and value for value in values):
            raise self._wrong(name, "an array of non-empty strings")
        return tuple(values)

    def seconds(self, name: str) -> float:
        value = self._take(name)
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < 1e10:
            raise self._wrong(name, "a number of seconds, 0 or more")
        return value

    def object(self, name: str) -> Arguments:
        value = self._take(name)
        if not isinstance(value, dict):
            raise self._wrong(name, "an object")
        return Arguments(value, where=f"{name}.")

    def done(self) -> None:
        if self._members:
            raise WrongArgument(f"unknown argument: {self._where}{min(self._members)}")

    def _take(self, name: str) -> Any:
        if name not in self._members:
            raise WrongArgument(f"missing argument: {self._where}{name}")
        return self._members.pop(name)

    def _wrong(self, name: str, expected: str) -> WrongArgument:
        return WrongArgument(f"{self._where}{name}: expected {expected}")
