"""The fake merchant's records, used by both sides of the admin API."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Any, Literal

Kind = Literal["access_token", "refresh_token", "id_token", "code"]
Form = Literal["opaque", "jwt"]


@dataclass(frozen=True, kw_only=True, slots=True)
class MintedToken:
    """A secret that the merchant created.

    Every character of an opaque value is random. In a JWT only the signature and the `jti` are; other parts
    may be equal to those of another JWT.
    """

    ordinal: int
    kind: Kind
    form: Form
    value: str = field(repr=False)
    client_id: str
    login: str
    actor: tuple[str, ...]
    family: int
    issued_at: float
    expires_at: float | None
    superseded: bool = False
    revoked: bool = False

    def to_json(self) -> dict[str, Any]:
        return _members(self, _OF_A_TOKEN)

    @classmethod
    def from_json(cls, raw: dict[str, Any]) -> MintedToken:
        return cls(**{**raw, "actor": tuple(raw["actor"])})


@dataclass(kw_only=True, slots=True)
class JournalEntry:
    """One received request; fields are set as it is processed.

    A request that is held or hangs has no `status` yet; one whose connection was reset never has one.
    """

    ordinal: int
    time: float
    endpoint: str
    grant: str | None = None
    client_id: str | None = None
    login: str | None = None
    actor: Any = None
    assertion: str | None = field(default=None, repr=False)
    subject_token: str | None = field(default=None, repr=False)
    client_assertion: str | None = field(default=None, repr=False)
    # The other parameters of a token request, and those of an authorization request.
    sent: dict[str, str] = field(default_factory=dict, repr=False)
    verified_by: dict[str, str] = field(default_factory=dict)
    outcome: str | None = None
    status: int | None = None
    error: str | None = None

    def to_json(self) -> dict[str, Any]:
        return _members(self, _OF_AN_ENTRY)

    @classmethod
    def from_json(cls, raw: dict[str, Any]) -> JournalEntry:
        return cls(**raw)


@dataclass(frozen=True, kw_only=True, slots=True)
class TokenState:
    """The state of a token at the merchant."""

    kind: Kind
    login: str
    actor: tuple[str, ...]
    client_id: str
    active: bool
    expires_at: float | None

    @classmethod
    def from_json(cls, raw: dict[str, Any]) -> TokenState:
        return cls(**{**raw, "actor": tuple(raw["actor"])})


# `dataclasses.asdict` copies deeply, which is too slow for thousands of records.
_OF_A_TOKEN = tuple(member.name for member in fields(MintedToken))
_OF_AN_ENTRY = tuple(member.name for member in fields(JournalEntry))


def _members(record: object, names: tuple[str, ...]) -> dict[str, Any]:
    return {name: getattr(record, name) for name in names}


def named_actors(act: Any, depth: int = 8) -> tuple[str, ...]:
    """The agent asserted in `act`: the string itself, or every string inside an object or list."""
    if isinstance(act, str):
        return (act,)
    if depth == 0:
        return ()
    inside = act.values() if isinstance(act, dict) else act if isinstance(act, list) else ()
    return tuple(name for value in inside for name in named_actors(value, depth - 1))
