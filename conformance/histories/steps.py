"""The steps of a history as data. Steps refer to earlier objects by kind and number."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from typing import Any, ClassVar, Literal, TypeAlias

from gateproof.conformance.targets.model import AgentPolicy

# The merchant's behavior for one user from now on.
Manner = Literal[
    "accepts",
    "rejects",
    "rejects refreshes",
    "rotates refresh tokens",
    "repeats no refresh token",
    "gives no refresh token",
    "stumbles once",
    "rotates and loses the answer",
]
Past = Literal["merchant token", "Proxy token"]


class NotAHistory(ValueError):
    """The document is not a valid history; the text says why."""


@dataclass(frozen=True, kw_only=True, slots=True)
class NewProject:
    """Creates a Project with a Resource and a first Proxy client."""

    makes: ClassVar[tuple[str, ...]] = ("project", "client")
    policy: AgentPolicy = "approve"


@dataclass(frozen=True, kw_only=True, slots=True)
class Register:
    """An agent registers."""

    makes: ClassVar[tuple[str, ...]] = ("agent",)


@dataclass(frozen=True, kw_only=True, slots=True)
class Authorize:
    """A user signs in for an agent and approves or declines. The result counts as a code in any case."""

    makes: ClassVar[tuple[str, ...]] = ("code",)
    agent: int
    project: int
    user: int = 0
    approves: bool = True


@dataclass(frozen=True, kw_only=True, slots=True)
class Approve:
    """The operator approves a Pending agent."""

    makes: ClassVar[tuple[str, ...]] = ()
    agent: int
    project: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Exchange:
    """An agent exchanges its code, possibly again."""

    makes: ClassVar[tuple[str, ...]] = ()
    code: int


@dataclass(frozen=True, kw_only=True, slots=True)
class NewProxyClient:
    """Creates another Proxy client in a Project."""

    makes: ClassVar[tuple[str, ...]] = ("client",)
    project: int


@dataclass(frozen=True, kw_only=True, slots=True)
class AskProxyToken:
    """A Proxy client requests a Proxy token."""

    makes: ClassVar[tuple[str, ...]] = ("token",)
    client: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Revoke:
    """The operator revokes a Proxy client."""

    makes: ClassVar[tuple[str, ...]] = ()
    client: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Redeem:
    """The backend redeems an agent's access token with a Proxy token."""

    makes: ClassVar[tuple[str, ...]] = ()
    code: int
    token: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Merchant:
    """The merchant changes its behavior for a user."""

    makes: ClassVar[tuple[str, ...]] = ()
    project: int
    user: int = 0
    manner: Manner


@dataclass(frozen=True, kw_only=True, slots=True)
class Forward:
    """The gateway's clock moves past the end of all merchant tokens or all Proxy tokens."""

    makes: ClassVar[tuple[str, ...]] = ()
    past: Past


Step: TypeAlias = (
    NewProject
    | Register
    | Authorize
    | Approve
    | Exchange
    | NewProxyClient
    | AskProxyToken
    | Revoke
    | Redeem
    | Merchant
    | Forward
)
History: TypeAlias = tuple[Step, ...]

_WORDS: dict[str, type[Step]] = {
    "new Project": NewProject,
    "register": Register,
    "authorize": Authorize,
    "approve agent": Approve,
    "exchange": Exchange,
    "new Proxy client": NewProxyClient,
    "ask for a Proxy token": AskProxyToken,
    "revoke Proxy client": Revoke,
    "redeem": Redeem,
    "merchant": Merchant,
    "clock forward": Forward,
}
_WORD_OF = {kind: word for word, kind in _WORDS.items()}
_REFERENCES = ("project", "agent", "code", "client", "token")
_CHOICES: Mapping[str, tuple[str, ...]] = {
    "policy": ("approve", "hold"),
    "manner": Manner.__args__,  # type: ignore[attr-defined]
    "past": Past.__args__,  # type: ignore[attr-defined]
}
_MOST_STEPS = 500


def references(step: Step) -> Iterator[tuple[str, int]]:
    """The objects on which a step depends: kind and number."""
    for field in fields(step):
        if field.name in _REFERENCES:
            yield field.name, getattr(step, field.name)


def to_json(history: Sequence[Step]) -> list[dict[str, Any]]:
    """The history as JSON values."""
    return [{"do": _WORD_OF[type(step)], **asdict(step)} for step in history]


def from_json(document: object) -> History:
    """The history from its JSON values; unknown words or keys and missing dependencies are errors."""
    if not isinstance(document, list) or not 0 < len(document) <= _MOST_STEPS:
        raise NotAHistory(f"steps: expected a list of 1 to {_MOST_STEPS} steps")
    history = tuple(_step(number, raw) for number, raw in enumerate(document, start=1))
    if (missing := _missing_dependency(history)) is not None:
        number, kind = missing
        raise NotAHistory(f"step {number}: no earlier step creates the {kind} that it names")
    return history


def _step(number: int, raw: object) -> Step:
    word = raw.get("do") if isinstance(raw, dict) else None
    if not isinstance(raw, dict) or not isinstance(word, str) or word not in _WORDS:
        raise NotAHistory(f"step {number}: found {word!r}, expected 'do' with one of {', '.join(_WORDS)}")
    kind = _WORDS[word]
    given = {key: value for key, value in raw.items() if key != "do"}
    known = {field.name: str(field.type) for field in fields(kind)}
    for key, value in given.items():
        if key not in known:
            raise NotAHistory(f"step {number}: unknown key {key!r} in {word!r}")
        choices = _CHOICES.get(key)
        if not (value in choices if choices else _is(value, known[key])):
            expected = " or ".join(choices) if choices else known[key]
            raise NotAHistory(f"step {number}: {key}: found {value!r}, expected {expected}")
    try:
        return kind(**given)
    except TypeError:
        raise NotAHistory(f"step {number}: {word!r} lacks one of {', '.join(known)}") from None


def _is(value: object, name: str) -> bool:
    if name == "bool":
        return isinstance(value, bool)
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < _MOST_STEPS


def _missing_dependency(history: Sequence[Step]) -> tuple[int, str] | None:
    """The first step that depends on something that does not exist yet, and what that is."""
    made = dict.fromkeys(_REFERENCES, 0)
    for number, step in enumerate(history, start=1):
        for kind, which in references(step):
            if which >= made[kind]:
                return number, kind
        for kind in step.makes:
            made[kind] += 1
    return None


def without(history: Sequence[Step], *places: int) -> History:
    """The history without these steps and all steps that depend on them."""
    kept: list[Step] = []
    # For each object of the whole history, its new number; None if it is removed.
    numbers: dict[str, list[int | None]] = {kind: [] for kind in _REFERENCES}
    made = dict.fromkeys(_REFERENCES, 0)
    for place, step in enumerate(history):
        renumbered = {kind: numbers[kind][which] for kind, which in references(step)}
        stays = place not in places and None not in renumbered.values()
        if stays:
            changes: dict[str, Any] = dict(renumbered)
            kept.append(replace(step, **changes))
        for kind in step.makes:
            numbers[kind].append(made[kind] if stays else None)
            made[kind] += stays
    return tuple(kept)
