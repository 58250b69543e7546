"""Errors in a target file, each in one line."""

from __future__ import annotations


class TargetError(ValueError):
    """An error in a target file: names the file, the key, what was found and what was expected."""

    def __init__(self, file: str, key: str, found: str, expected: str, *, hint: str = "") -> None:
        self.file = file
        self.key = key
        self.found = found
        self.expected = expected
        self.hint = hint
        place = f"{file}: {key}" if key else file
        super().__init__(f"{place}: found {found}; expected {expected}{'; ' + hint if hint else ''}")


class UnknownKeyError(TargetError):
    """An unknown key in a target file; the message names the nearest known one."""

    def __init__(self, file: str, table: str, key: str, known: tuple[str, ...], *, hint: str) -> None:
        super().__init__(file, key, f"unknown key '{key}'", f"one of {', '.join(known)}", hint=hint)
        self.args = (f"{file}: unknown key '{key}' in {table}; {hint}",)
