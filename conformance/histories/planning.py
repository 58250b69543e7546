"""Which step a history takes next: drawn from what is possible, the less often tried the more likely.

A dozen histories are few. So what was tried counts over all of them: by the step and by all of the state that
it meets, such as how often this user's merchant token was refreshed or lost before.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator
from dataclasses import dataclass, field, replace
from random import Random

from conformance.histories.redemption import faults
from conformance.histories.seen import Seen
from conformance.histories.state import State
from conformance.histories.steps import (
    Approve,
    AskProxyToken,
    Authorize,
    Exchange,
    Forward,
    Manner,
    Merchant,
    NewProject,
    NewProxyClient,
    Past,
    Redeem,
    Register,
    Revoke,
    Step,
)
from conformance.target.model import AgentPolicy

MOST_PROJECTS, MOST_AGENTS, MOST_CLIENTS, MOST_CODES, MOST_TOKENS = 2, 3, 3, 7, 7
_MOST_COUNTED = 3


@dataclass(frozen=True, kw_only=True, slots=True)
class Offer:
    """What the target lets a history do."""

    users: int = 1
    projects: bool = False
    holding: bool = False
    approving: bool = False
    declining: bool = False
    new_clients: bool = False
    # Whether Proxy clients may be revoked: of the first of each Project, and of those made later.
    revoking_first: bool = False
    revoking: bool = False
    manners: tuple[Manner, ...] = ()
    forward: tuple[Past, ...] = ()


@dataclass(kw_only=True, slots=True)
class Memory:
    """What was tried so far, over all histories, and what one history has behind it."""

    tried: Counter[Hashable] = field(default_factory=Counter)
    # By Project and user: refreshes, rejections, and sign-ins; and what the last sign-in was.
    behind: dict[tuple[int, int], tuple[int, int, int]] = field(default_factory=dict)
    declined_last: bool = False
    approvals: int = 0

    def begin(self) -> None:
        self.behind.clear()
        self.declined_last, self.approvals = False, 0

    def note(self, step: Step, seen: Seen, place: Hashable) -> None:
        """The step was taken, and this came of it."""
        self.tried[place] += 1
        for heard in seen.heard:
            refreshes, rejections, sign_ins = self.behind.get((heard.project, heard.user), (0, 0, 0))
            refreshes += heard.grant == "refresh" and heard.result == "accepted"
            rejections += heard.grant == "refresh" and heard.result == "rejected"
            self.behind[heard.project, heard.user] = refreshes, rejections, sign_ins
        match step:
            case Authorize():
                refreshes, rejections, sign_ins = self.behind.get((step.project, step.user), (0, 0, 0))
                self.behind[step.project, step.user] = refreshes, rejections, sign_ins + 1
                self.declined_last = not step.approves
            case Approve():
                self.approvals += 1


def next_step(state: State, offer: Offer, memory: Memory, rng: Random) -> tuple[Step, Hashable]:
    """The next step, and the name under which it counts as tried."""
    if not state.projects:
        policy: AgentPolicy = "hold" if offer.holding and rng.random() < 0.3 else "approve"
        return NewProject(policy=policy), ("new Project", policy)
    drawn = [(step, weight, _place(state, step, memory)) for step, weight in menu(state, offer)]
    weights = [weight / (1 + memory.tried[place]) for _, weight, place in drawn]
    step, _, place = rng.choices(drawn, weights)[0]
    return step, place


def menu(state: State, offer: Offer) -> Iterator[tuple[Step, float]]:
    """Every step that is possible and tells something, with how much it is wanted."""
    if offer.projects and len(state.projects) < MOST_PROJECTS:
        yield NewProject(policy="hold" if offer.holding else "approve"), 0.4
    if len(state.agents) < MOST_AGENTS:
        yield Register(), 0.6 if state.agents else 6
    yield from _sign_ins(state, offer)
    if offer.approving:
        yield from ((Approve(agent=agent, project=project), 3) for agent, project in sorted(state.pending))
    for place, code in enumerate(state.codes):
        if code.stands == "waits":
            yield Exchange(code=place), 6
        elif code.stands in {"tokens", "used up"} and not code.shaken:
            yield Exchange(code=place), 0.3
    yield from _clients(state, offer)
    yield from _redemptions(state)
    for project in range(len(state.projects)):
        for user in range(offer.users):
            now = state.manner(project, user)
            others = [manner for manner in offer.manners if manner != now]
            eager = 2.5 if now == "rejects" else 1.2
            yield from (
                (Merchant(project=project, user=user, manner=manner), eager / len(others))
                for manner in others
                if any((code.project, code.user) == (project, user) for code in state.codes)
                or manner in {"rejects", "gives no refresh token", "rotates refresh tokens"}
            )
    if any(code.stands == "tokens" for code in state.codes):
        yield from ((Forward(past=past), 2.5 if past == "merchant token" else 0.15) for past in offer.forward)


def _sign_ins(state: State, offer: Offer) -> Iterator[tuple[Step, float]]:
    if len(state.codes) >= MOST_CODES:
        return
    for agent, projects in enumerate(state.agents):
        # Whether a Project's policy reaches agents that registered before it is open.
        for project in range(projects):
            standing = state.standing(agent, project)
            for user in range(offer.users):
                before = [
                    code
                    for code in state.codes
                    if (code.agent, code.project, code.user) == (agent, project, user)
                ]
                waits = any(code.stands == "waits" for code in before)
                again = 0.2 if waits else 0.8 if before else 2.5
                if standing == "Pending":
                    again = 0.3 if before else 2.0
                elif state.manner(project, user) == "accepts" and _lost(state, agent, project, user):
                    again = 4.0
                yield Authorize(agent=agent, project=project, user=user), again
                if offer.declining and standing == "approved":
                    yield Authorize(agent=agent, project=project, user=user, approves=False), 0.4


def _lost(state: State, agent: int, project: int, user: int) -> bool:
    """True when the user has to sign in again to get a merchant token."""
    vault = state.vaults[0]
    entries = vault.of(vault.key(project, user, agent))
    return all(entry.holds != "token" for entry in entries)


def _clients(state: State, offer: Offer) -> Iterator[tuple[Step, float]]:
    if offer.new_clients and len(state.clients) < MOST_CLIENTS + len(state.projects) - 1:
        revoked = any(client.revoked for client in state.clients)
        yield from (
            (NewProxyClient(project=place), 1.5 if revoked else 0.3) for place in range(len(state.projects))
        )
    firsts = {
        next(n for n, c in enumerate(state.clients) if c.project == p) for p in range(len(state.projects))
    }
    for place, client in enumerate(state.clients):
        has = any(token.client == place for token in state.tokens)
        if len(state.tokens) < MOST_TOKENS:
            yield AskProxyToken(client=place), (0.8 if client.revoked else 0.15 if has else 3)
        if not client.revoked and (offer.revoking_first if place in firsts else offer.revoking):
            yield Revoke(client=place), 0.5 if has else 0.1


def _redemptions(state: State) -> Iterator[tuple[Step, float]]:
    held = [place for place, code in enumerate(state.codes) if code.stands == "tokens"]
    given = [place for place, token in enumerate(state.tokens) if token.client is not None]
    for place in held:
        for token in given:
            client = state.clients[state.tokens[token].client or 0]
            good = not client.revoked and client.project == state.codes[place].project
            yield (
                Redeem(code=place, token=token),
                (3 if good else 0.7) / max(1, len(held) * len(given)) ** 0.5,
            )


def _place(state: State, step: Step, memory: Memory) -> Hashable:
    """The step with what it meets; the numbers of agents and users do not count."""
    word = type(step).__name__
    match step:
        case Authorize():
            return (
                word,
                step.approves,
                state.standing(step.agent, step.project),
                memory.declined_last,
                min(memory.approvals, 1),
                *_vault(state, step.project, step.user, step.agent, memory),
            )
        case Redeem():
            code = state.codes[step.code]
            shape = _vault(state, code.project, code.user, code.agent, memory)
            return word, frozenset(faults(state, step, 0.0)), code.shaken, *shape
        case Exchange():
            return word, state.codes[step.code].stands
        case AskProxyToken():
            return word, state.clients[step.client].revoked, _revoked(state)
        case Revoke() | NewProxyClient():
            return word, _revoked(state)
        case Merchant():
            known = memory.behind.get((step.project, step.user), (0, 0, 0))
            return word, step.manner, *(min(number, _MOST_COUNTED) for number in known)
        case Forward():
            return (
                word,
                step.past,
                frozenset(
                    tuple(min(number, _MOST_COUNTED) for number in known) for known in memory.behind.values()
                ),
            )
        case Approve():
            return word, min(memory.approvals, 1), len(state.pending)
        case NewProject() | Register():
            return word, len(state.agents)


def _vault(state: State, project: int, user: int, agent: int, memory: Memory) -> tuple[Hashable, ...]:
    vault = state.vaults[0]
    entries = vault.of(vault.key(project, user, agent))
    kinds = frozenset((entry.holds, entry.refresh) for entry in entries)
    known = memory.behind.get((project, user), (0, 0, 0))
    return kinds, state.manner(project, user), *(min(number, _MOST_COUNTED) for number in known)


def _revoked(state: State) -> int:
    return min(sum(client.revoked for client in state.clients), 1)


def probes(state: State, offer: Offer, most: int) -> Iterator[Step]:
    """What a history is asked at its end: everything that should have stayed as it was."""
    del offer
    asked = 0
    for place, client in enumerate(state.clients):
        if client.revoked and asked < most:
            asked += 1
            yield AskProxyToken(client=place)
    for agent, project in sorted(state.pending):
        if asked < most:
            asked += 1
            yield Authorize(agent=agent, project=project)
    held = [place for place, code in enumerate(state.codes) if code.stands == "tokens"]
    given = [place for place, token in enumerate(state.tokens) if token.client is not None]
    for place in reversed(held):
        for token in given:
            if asked < most:
                asked += 1
                yield Redeem(code=place, token=token)


def seeded(seed: int, name: str, number: int) -> Random:
    """The choices of one history: the same for the same seed, on every Python."""
    return Random(f"{seed}/{name}/{number}")  # noqa: S311 - a choice, not a secret


def less(offer: Offer, step: Step) -> Offer:
    """The offer without what this step needed."""
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
