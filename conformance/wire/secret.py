"""A credential that can be used but not shown."""

from __future__ import annotations


class Secret:
    """A credential's value, shown everywhere as its kind only.

    It is no ``str`` on purpose: a format string, a JSON encoder or an assertion diff that meets it prints
    the kind, and code that needs the value has to say ``reveal()``. ``variable`` is the environment variable
    that it came from, where it came from one.
    """

    __slots__ = ("_kind", "_value", "_variable")

    def __init__(self, kind: str, value: str, variable: str = "") -> None:
        self._kind = kind
        self._value = value
        self._variable = variable

    @property
    def variable(self) -> str:
        return self._variable

    @property
    def kind(self) -> str:
        return self._kind

    def reveal(self) -> str:
        """The value itself, for the wire and for nothing else."""
        return self._value

    def __repr__(self) -> str:
        return f"⟨{self._kind}⟩"

    __str__ = __repr__

    def __format__(self, spec: str) -> str:
        return format(repr(self), spec)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Secret) and self._value == other._value

    def __hash__(self) -> int:
        return hash(self._value)
