"""Everything that a history has brought about so far, as far as it can be seen from outside."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, Protocol, TypeVar

from gateproof.conformance.histories.steps import Manner
from gateproof.conformance.histories.vault import Key, Vault
from gateproof.conformance.targets.model import AgentPolicy

Item = TypeVar("Item")
Standing = Literal["approved", "Pending"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Ground:
    """What is known of the target before the history: how it gets merchant tokens, and how long they live.

    Where nothing is heard of the merchant, every sign-in is taken to give a merchant token for good.
    """

    hears: bool
    life_s: float


@dataclass(frozen=True, kw_only=True, slots=True)
class Code:
    """What an authorization gave: a code that waits, tokens that it was exchanged for, or nothing.

    `until` is its end while it waits, and then that of its tokens. A code that was used twice may have taken
    down what it gave; one that a clock went past may be over, and so may one that a newer one came after.
    """

    agent: int
    project: int
    user: int
    stands: Literal["nothing", "waits", "tokens", "used up"]
    until: float = 0.0
    aged: bool = False
    shaken: bool = False


class About(Protocol):
    """Whom something is about: a user, at a Project, through an agent."""

    @property
    def project(self) -> int: ...
    @property
    def user(self) -> int: ...
    @property
    def agent(self) -> int: ...


@dataclass(frozen=True, kw_only=True, slots=True)
class Client:
    project: int
    revoked: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class Token:
    """A Proxy token; `client` is None where none was given."""

    client: int | None
    until: float = 0.0


@dataclass(frozen=True, kw_only=True, slots=True)
class State:
    """Everything that the history so far has brought about."""

    ground: Ground
    projects: tuple[AgentPolicy, ...] = ()
    # For each agent, how many Projects there were when it registered.
    agents: tuple[int, ...] = ()
    approved: frozenset[tuple[int, int]] = frozenset()
    pending: frozenset[tuple[int, int]] = frozenset()
    codes: tuple[Code, ...] = ()
    clients: tuple[Client, ...] = ()
    tokens: tuple[Token, ...] = ()
    manners: Mapping[tuple[int, int], Manner] = field(default_factory=dict)
    vaults: tuple[Vault, ...] = (Vault(shared=True), Vault(shared=False))
    # The merchant was heard to fail: whoever spares it from then on asks it for nothing for a while.
    troubled: bool = False

    def standing(self, agent: int, project: int) -> Standing:
        """A Project that holds new agents holds each until the operator has approved it there."""
        held = self.projects[project] == "hold" and (agent, project) not in self.approved
        return "Pending" if held else "approved"

    def manner(self, project: int, user: int) -> Manner:
        return self.manners.get((project, user), "accepts")


@dataclass(frozen=True, kw_only=True, slots=True)
class Judged:
    """What the model says of a step: the next state, or None where what came is not allowed.

    `rows` are those of the specification's tables that were gone through.
    """

    state: State | None
    allowed: frozenset[str] = frozenset()
    rows: tuple[str, ...] = ()


def key_of(vault: Vault, about: About) -> Key:
    return vault.key(about.project, about.user, about.agent)


def put(items: tuple[Item, ...], place: int, new: Item) -> tuple[Item, ...]:
    return (*items[:place], new, *items[place + 1 :])
