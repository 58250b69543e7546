"""What a history may do at a target, and which part of it one history uses."""

from __future__ import annotations

from dataclasses import dataclass, replace
from random import Random

from gateproof.conformance.histories.steps import (
    Approve,
    Manner,
    NewProject,
    NewProxyClient,
    Past,
    Revoke,
    Step,
)

LASTING: frozenset[Manner] = frozenset(
    {"rejects refreshes", "rotates refresh tokens", "repeats no refresh token", "gives no refresh token"}
)
# With these the merchant fails: it neither accepts nor rejects.
TROUBLED: frozenset[Manner] = frozenset({"stumbles once", "rotates and loses the answer"})


@dataclass(frozen=True, kw_only=True, slots=True)
class Offer:
    """What a history may do at the target, and limits for it."""

    users: int = 1
    projects: int = 1
    agents: int = 3
    codes: int = 7
    clients: int = 3
    holding: bool = False
    approving: bool = False
    declining: bool = False
    reusing: bool = True
    new_clients: bool = False
    # Whether Proxy clients may be revoked: the first one of each Project, and later ones.
    revoking_first: bool = False
    revoking: bool = False
    manners: tuple[Manner, ...] = ()
    forward: tuple[Past, ...] = ()


def themes(offer: Offer) -> tuple[Offer, ...]:
    """Restricted offers, in which the remaining steps occur more often and in longer series.

    With all steps allowed, a short history has too few of each kind.
    """
    if offer.forward:
        one = replace(
            offer, users=1, projects=1, agents=1, clients=1, holding=False, declining=False, reusing=False
        )
        one = replace(one, new_clients=False, revoking_first=False, revoking=False, forward=offer.forward[:1])
        return one, one, one, one, replace(one, users=offer.users, agents=2), offer
    # If the merchant always accepts, one user and one agent are enough.
    plain = replace(
        offer, users=1, projects=1, agents=1, declining=False, reusing=False, holding=False, manners=()
    )
    unrevoked = replace(plain, new_clients=False, revoking_first=False, revoking=False)
    agents = replace(unrevoked, agents=3, clients=0, holding=offer.holding)
    clients = replace(plain, codes=2, clients=4)
    projects = replace(unrevoked, projects=offer.projects, clients=2, codes=3)
    people = replace(unrevoked, users=offer.users, agents=2, declining=offer.declining, reusing=True)
    people = replace(people, clients=1, manners=offer.manners)
    return agents, clients, people, agents, clients, projects, people, offer


def narrowed(offer: Offer, number: int, rng: Random) -> Offer:
    """The capabilities of one history: its theme, and a few of the merchant's behaviors."""
    theme = themes(offer)[number % len(themes(offer))]
    usual, *others = theme.manners or ("accepts",)
    if not others:
        return theme
    # Lasting behaviors take turns; a second behavior is drawn.
    lasting = [manner for manner in others if manner in LASTING] or others
    turn = lasting[number % len(lasting)]
    beside = rng.choice([manner for manner in others if manner != turn] or others)
    return replace(theme, manners=tuple(dict.fromkeys((usual, turn, beside))))


def less(offer: Offer, step: Step) -> Offer:
    """The capabilities without what this step needed."""
    match step:
        case Approve():
            return replace(offer, approving=False)
        case NewProxyClient():
            return replace(offer, new_clients=False)
        case Revoke():
            return replace(offer, revoking_first=False, revoking=False)
        case NewProject():
            return replace(offer, holding=False)
        case _:
            return replace(offer, forward=(), manners=())


def seeded(seed: int, name: str, number: int) -> Random:
    """The random source of one history: the same for the same seed on every Python version."""
    return Random(f"{seed}/{name}/{number}")  # noqa: S311 - a choice, not a secret
