"""What is wrong with a target file, in one line."""

from __future__ import annotations


class TargetError(ValueError):
    """A target file cannot be used: names the file, the key, what was found and what was expected."""

    def __init__(self, file: str, key: str, found: str, expected: str, *, hint: str = "") -> None:
        self.file = file
        self.key = key
        self.found = found
        self.expected = expected
        self.hint = hint
        place = f"{file}: {key}" if key else file
        super().__init__(f"{place}: found {found}; expected {expected}{'; ' + hint if hint else ''}")


class UnknownKeyError(TargetError):
    """A target file holds a key that means nothing; the nearest one that does is named."""

    def __init__(self, file: str, table: str, key: str, known: tuple[str, ...], *, hint: str) -> None:
        super().__init__(file, key, f"unknown key '{key}'", f"one of {', '.join(known)}", hint=hint)
        self.args = (f"{file}: unknown key '{key}' in {table}; {hint}",)
