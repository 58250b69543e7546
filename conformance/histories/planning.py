"""Chooses the next step of a history; steps that were tried less often are more likely.

There are only a dozen histories, so trials are counted over all of them: by the step and the state that it
meets, for example how often this user's merchant token was refreshed before.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from random import Random

from gateproof.conformance.histories.capabilities import Offer
from gateproof.conformance.histories.model_update import UNREFRESHABLE
from gateproof.conformance.histories.observation import Seen
from gateproof.conformance.histories.redemption import faults
from gateproof.conformance.histories.state import State
from gateproof.conformance.histories.steps import (
    Approve,
    AskProxyToken,
    Authorize,
    Exchange,
    Forward,
    Manner,
    Merchant,
    NewProject,
    NewProxyClient,
    Redeem,
    Register,
    Revoke,
    Step,
)
from gateproof.conformance.targets.model import AgentPolicy

MOST_TOKENS = 7
_MOST_COUNTED = 3
_REFUSALS = frozenset({"401", "4xx", "invalid_grant", "no code"})


@dataclass(kw_only=True, slots=True)
class Memory:
    """The steps tried in all histories, and facts about the current one."""

    tried: Counter[Hashable] = field(default_factory=Counter)
    # Counts by Project and user: refreshes, rejections and sign-ins.
    behind: dict[tuple[int, int], tuple[int, int, int]] = field(default_factory=dict)
    # Agent, Project and user of the last sign-in if the user declined.
    declined: tuple[int, int, int] | None = None
    approvals: int = 0
    last: str = ""
    refused: Step | None = None

    def begin(self) -> None:
        self.behind.clear()
        self.declined, self.approvals, self.last, self.refused = None, 0, "", None

    def counts(self, project: int, user: int) -> tuple[int, int, int]:
        """The counts of a user, limited to the number that matters."""
        refreshes, rejections, sign_ins = self.behind.get((project, user), (0, 0, 0))
        return min(refreshes, _MOST_COUNTED), min(rejections, _MOST_COUNTED), min(sign_ins, _MOST_COUNTED)

    def note(self, step: Step, seen: Seen, place: Hashable) -> None:
        """Records a step and its result."""
        self.tried[place] += 1
        self.last = type(step).__name__
        if seen.came in _REFUSALS:
            self.refused = step
        for heard in seen.heard:
            refreshes, rejections, sign_ins = self.behind.get((heard.project, heard.user), (0, 0, 0))
            refreshes += heard.grant == "refresh" and heard.result == "accepted"
            rejections += heard.grant == "refresh" and heard.result == "rejected"
            self.behind[heard.project, heard.user] = refreshes, rejections, sign_ins
        match step:
            case Authorize():
                refreshes, rejections, sign_ins = self.behind.get((step.project, step.user), (0, 0, 0))
                self.behind[step.project, step.user] = refreshes, rejections, sign_ins + 1
                self.declined = None if step.approves else (step.agent, step.project, step.user)
            case Approve():
                self.approvals += 1


def next_step(state: State, offer: Offer, memory: Memory, rng: Random) -> tuple[Step, Hashable] | None:
    """The next step, and the name under which it counts; None if no step is possible."""
    if not state.projects:
        policy: AgentPolicy = "hold" if offer.holding else "approve"
        return NewProject(policy=policy), ("new Project", policy)
    drawn = [(step, weight, _place(state, step, memory)) for step, weight in menu(state, offer, memory)]
    if not drawn:
        return None
    weights = [weight / (1 + memory.tried[place]) ** 0.5 for _, weight, place in drawn]
    step, _, place = rng.choices(drawn, weights)[0]
    return step, place


def menu(state: State, offer: Offer, memory: Memory) -> Iterator[tuple[Step, float]]:
    """Every useful step with its weight."""
    if len(state.projects) < offer.projects:
        yield NewProject(policy="hold" if offer.holding else "approve"), 0.6
    if len(state.agents) < offer.agents:
        yield Register(), 1.0 if state.agents else 9
    yield from _sign_ins(state, offer, memory)
    if offer.approving:
        yield from (
            (Approve(agent=agent, project=project), 1.5) for agent, project in _may_be_approved(state)
        )
    for place, code in enumerate(state.codes):
        if code.stands == "waits":
            yield Exchange(code=place), 1 if (code.agent, code.project, code.user) in _whose(state) else 6
        elif offer.reusing and code.stands in {"tokens", "used up"}:
            yield Exchange(code=place), 1.0
    yield from _clients(state, offer)
    yield from _redemptions(state, memory)
    if memory.refused is not None and _has_room(state, offer, memory.refused):
        # A refused step is repeated.
        yield memory.refused, 2.5
    if any(code.stands == "tokens" for code in state.codes):
        yield from _surroundings(state, offer, memory)


def _has_room(state: State, offer: Offer, step: Step) -> bool:
    if isinstance(step, Authorize):
        return len(state.codes) < offer.codes
    return not isinstance(step, AskProxyToken) or len(state.tokens) < MOST_TOKENS


def _surroundings(state: State, offer: Offer, memory: Memory) -> Iterator[tuple[Step, float]]:
    """Changes of merchant and clock; they have a visible effect only if there is a token to redeem."""
    for project in range(len(state.projects)):
        for user in range(offer.users):
            now = state.manner(project, user)
            several = offer.users * len(state.projects)
            for manner in offer.manners:
                if manner != now:
                    wanted = _change(now, manner, offer, lost=_lost(state, 0, project, user))
                    wanted *= 0.2 if memory.last == "Merchant" else 1.0
                    yield Merchant(project=project, user=user, manner=manner), wanted / several
    for past in offer.forward:
        useless = memory.last == "Forward" or all(_lost(state, *each) for each in _whose(state))
        wanted = 0.4 if useless else 5.0
        yield Forward(past=past), wanted if past == "merchant token" else 0.15


def _whose(state: State) -> set[tuple[int, int, int]]:
    return {(code.agent, code.project, code.user) for code in state.codes if code.stands == "tokens"}


def _change(now: Manner, manner: Manner, offer: Offer, *, lost: bool) -> float:
    """The weight of a change of the merchant's behavior; the first ones in the list are preferred."""
    if now == "rejects" and lost:
        # A user without a merchant token cannot continue any series.
        return 6.0 if manner == offer.manners[0] else 0.2
    if now in offer.manners[:1]:
        return 8.0 if manner == offer.manners[1] else 0.5
    # Other behaviors should last long enough to have an effect.
    return 0.1


def _may_be_approved(state: State) -> Iterator[tuple[int, int]]:
    """Pending agents, each in the Project where it came first: it may belong to that one only."""
    first: dict[int, int] = {}
    for code in state.codes:
        first.setdefault(code.agent, code.project)
    return (place for place in sorted(state.pending) if first.get(place[0]) == place[1])


def _sign_ins(state: State, offer: Offer, memory: Memory) -> Iterator[tuple[Step, float]]:
    if len(state.codes) >= offer.codes:
        return
    for agent, projects in enumerate(state.agents):
        # Whether a Project's policy applies to agents registered earlier is open.
        for project in range(projects):
            met = any((code.agent, code.project) == (agent, project) for code in state.codes)
            for user in range(offer.users):
                wanted = _sign_in(state, memory, agent, project, user)
                yield Authorize(agent=agent, project=project, user=user), wanted
                if offer.declining and state.standing(agent, project) == "approved":
                    # Another user's first sign-in follows, if nobody has signed in yet.
                    no = Authorize(agent=agent, project=project, user=user, approves=False)
                    yield no, 1.0 if met else 3.0


def _sign_in(state: State, memory: Memory, agent: int, project: int, user: int) -> float:
    """The weight of a sign-in with approval."""
    before = [code for code in state.codes if (code.agent, code.project, code.user) == (agent, project, user)]
    if state.standing(agent, project) == "Pending":
        return 1.0 if before else 3.0
    if _after_declining(memory, agent, project, user):
        return 10.0
    if not before:
        return 4.0 if memory.declined else 2.5
    if any(code.stands == "waits" for code in before):
        return 0.1
    if _lost(state, agent, project, user):
        return 8.0
    if memory.last != "Merchant":
        return 0.3
    # A sign-in decides whether there is a refresh token.
    return 8.0 if state.manner(project, user) in UNREFRESHABLE else 1.0


def _after_declining(memory: Memory, agent: int, project: int, user: int) -> bool:
    """True if another user has just declined the same agent for the same Project."""
    if memory.declined is None:
        return False
    *where, who = memory.declined
    return where == [agent, project] and who != user


def _lost(state: State, agent: int, project: int, user: int) -> bool:
    """True if the user has to sign in again to get a merchant token."""
    vault = state.vaults[0]
    entries = vault.of(vault.key(project, user, agent))
    return all(entry.holds != "token" for entry in entries)


def _clients(state: State, offer: Offer) -> Iterator[tuple[Step, float]]:
    """New Proxy clients, Proxy tokens and revocations; some histories have none."""
    if not offer.clients:
        return
    if offer.new_clients and len(state.clients) < offer.clients:
        revoked = any(client.revoked for client in state.clients)
        for place in range(len(state.projects)):
            yield NewProxyClient(project=place), 2.0 if revoked else 0.4
    first: dict[int, int] = {}
    for place, client in enumerate(state.clients):
        first.setdefault(client.project, place)
        has = any(token.client == place for token in state.tokens)
        if len(state.tokens) < MOST_TOKENS:
            yield AskProxyToken(client=place), (1.2 if client.revoked else 0.1 if has else 4)
        if not client.revoked and (offer.revoking_first if place in first.values() else offer.revoking):
            yield Revoke(client=place), 0.9 if has else 0.2


def _redemptions(state: State, memory: Memory) -> Iterator[tuple[Step, float]]:
    held = [place for place, code in enumerate(state.codes) if code.stands == "tokens"]
    given = [place for place, token in enumerate(state.tokens) if token.client is not None]
    eager = 8 if memory.last in {"Forward", "Exchange"} else 4 if memory.last == "Authorize" else 0.4
    many = max(1, len(held) * len(given)) ** 0.5
    for place in held:
        for token in given:
            client = state.clients[state.tokens[token].client or 0]
            good = not client.revoked and client.project == state.codes[place].project
            yield Redeem(code=place, token=token), (eager if good else 1.0) / many


def _place(state: State, step: Step, memory: Memory) -> Hashable:
    """The kind of a step with the state that it meets, without the numbers of agents and users."""
    return type(step).__name__, *_met(state, step, memory)


def _met(state: State, step: Step, memory: Memory) -> tuple[Hashable, ...]:
    match step:
        case Authorize():
            before = (memory.declined is not None, min(memory.approvals, 1))
            met = _vault(state, step.project, step.user, step.agent, memory)
            return step.approves, state.standing(step.agent, step.project), *before, *met
        case Redeem():
            code = state.codes[step.code]
            met = _vault(state, code.project, code.user, code.agent, memory)
            return frozenset(faults(state, step, 0.0)), code.shaken, *met
        case Exchange():
            return (state.codes[step.code].stands,)
        case AskProxyToken():
            return state.clients[step.client].revoked, _revoked(state)
        case Merchant():
            return step.manner, *memory.counts(step.project, step.user)
        case Forward():
            return step.past, frozenset(memory.counts(*place) for place in memory.behind)
        case Approve():
            return min(memory.approvals, 1), len(state.pending)
        case _:
            return _revoked(state), len(state.agents)


def _vault(state: State, project: int, user: int, agent: int, memory: Memory) -> tuple[Hashable, ...]:
    vault = state.vaults[0]
    entries = vault.of(vault.key(project, user, agent))
    kinds = frozenset((entry.holds, entry.refresh) for entry in entries)
    return kinds, state.manner(project, user), *memory.counts(project, user)


def _revoked(state: State) -> int:
    return min(sum(client.revoked for client in state.clients), 1)


def probes(state: State, most: int) -> Iterator[Step]:
    """The last steps of a history: they test what should be unchanged."""
    return islice(_probes(state), most)


def _probes(state: State) -> Iterator[Step]:
    yield from (AskProxyToken(client=place) for place, client in enumerate(state.clients) if client.revoked)
    yield from (Authorize(agent=agent, project=project) for agent, project in sorted(state.pending))
    held = [place for place, code in enumerate(state.codes) if code.stands == "tokens"]
    given = [place for place, token in enumerate(state.tokens) if token.client is not None]
    yield from (Redeem(code=place, token=token) for place in reversed(held) for token in given)
