"""A credential that can be used but not shown."""

from __future__ import annotations


class Secret:
    """A credential's value, which is always shown as its kind only.

    It is not a ``str`` on purpose: format strings, JSON encoders and assertion diffs show the kind, and code
    that needs the value has to call ``reveal()``. ``variable`` is the environment variable from which it
    came, if any.
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
        """The value itself, to be used only for requests."""
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
