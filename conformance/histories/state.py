"""The state that a history has created, as far as it is visible from outside."""

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
class TargetFacts:
    """Facts about the target: whether its merchant calls are visible, and token lifetimes.

    If they are not, every sign-in is assumed to give a permanent merchant token.
    """

    hears: bool
    life_s: float


@dataclass(frozen=True, kw_only=True, slots=True)
class Code:
    """The result of an authorization: an unused code, the tokens for it, or nothing.

    `until` is the end of the code, later that of its tokens. After a second use of a code its tokens may be
    revoked (`shaken`), and those of all codes of the same agent and user (`doubted`). After a clock move or a
    newer code it may have expired.
    """

    agent: int
    project: int
    user: int
    stands: Literal["nothing", "waits", "tokens", "used up"]
    until: float = 0.0
    aged: bool = False
    shaken: bool = False
    doubted: bool = False


class About(Protocol):
    """User, Project and agent that something is about."""

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
    """A Proxy token; `client` is None if the request failed."""

    client: int | None
    until: float = 0.0


@dataclass(frozen=True, kw_only=True, slots=True)
class State:
    """The state of a history."""

    facts: TargetFacts
    projects: tuple[AgentPolicy, ...] = ()
    # For each agent, the number of Projects at its registration.
    agents: tuple[int, ...] = ()
    approved: frozenset[tuple[int, int]] = frozenset()
    pending: frozenset[tuple[int, int]] = frozenset()
    codes: tuple[Code, ...] = ()
    clients: tuple[Client, ...] = ()
    tokens: tuple[Token, ...] = ()
    manners: Mapping[tuple[int, int], Manner] = field(default_factory=dict)
    vaults: tuple[Vault, ...] = (Vault(shared=True), Vault(shared=False))
    # True after a merchant failure: a gateway in a back-off sends no calls for a while.
    troubled: bool = False

    def standing(self, agent: int, project: int) -> Standing:
        """In a Project with policy `hold`, an agent is Pending until the operator approves it."""
        held = self.projects[project] == "hold" and (agent, project) not in self.approved
        return "Pending" if held else "approved"

    def manner(self, project: int, user: int) -> Manner:
        return self.manners.get((project, user), "accepts")


@dataclass(frozen=True, kw_only=True, slots=True)
class Judged:
    """The model's judgment of a step: the next state, or None for a result that is not allowed.

    `rows` are the transitions of the specification's tables that were taken.
    """

    state: State | None
    allowed: frozenset[str] = frozenset()
    rows: tuple[str, ...] = ()


def key_of(vault: Vault, about: About) -> Key:
    return vault.key(about.project, about.user, about.agent)


def put(items: tuple[Item, ...], place: int, new: Item) -> tuple[Item, ...]:
    return (*items[:place], new, *items[place + 1 :])
