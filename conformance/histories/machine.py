"""Plays generated histories against a gateway until one violates the model, and shrinks that one."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Container, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, get_args

from gateproof.conformance.histories.capabilities import TROUBLED, Offer, less, narrowed, seeded
from gateproof.conformance.histories.driver import Driver, Impossible
from gateproof.conformance.histories.merchant_journal import JournalReader
from gateproof.conformance.histories.planning import Memory
from gateproof.conformance.histories.shrinking import shortest
from gateproof.conformance.histories.state import State, TargetFacts
from gateproof.conformance.histories.step_loop import Play, Violation, play_random, repeat
from gateproof.conformance.histories.steps import (
    AskProxyToken,
    Authorize,
    Exchange,
    History,
    Manner,
    NewProject,
    NotAHistory,
    Redeem,
    Register,
    Step,
    from_json,
    to_json,
)
from gateproof.conformance.histories.story import sentences_of
from gateproof.conformance.histories.table import TABLE
from gateproof.conformance.kit.gateway.isolated_user import new_user
from gateproof.conformance.kit.gateway.project_pool import ControlledProjects
from gateproof.conformance.kit.gateway.world import World
from gateproof.conformance.suite.claims import (
    LeftOut,
    Unavailable,
    Unmet,
    expect,
    observe,
    repeat_with,
    require,
)
from gateproof.conformance.suite.generated_input import Draw
from gateproof.conformance.suite.parties import User
from gateproof.conformance.suite.time_limits import BREAKER_S, PROVISIONING_S

KIND = "history"
# The steps of the normal flow whose failure belongs to another rule. A sign-in is no such step: the harness
# may not have understood a page.
_OWNED: Mapping[type[Step], str] = {
    Register: "registration",
    Exchange: "code exchange",
    AskProxyToken: "Proxy token request",
    Redeem: "redemption",
}
# The normal flow, which every history varies.
USUAL: History = (
    NewProject(),
    Register(),
    Authorize(agent=0, project=0),
    Exchange(code=0),
    AskProxyToken(client=0),
    Redeem(code=0, token=0),
)
STEPS, PROBES = 32, 3
# Limit of histories that end without a verdict.
MOST_UNJUDGED = 3
# Time limit: if answers are slow, fewer histories are played.
LONGEST_S = 120.0
# Time limit for shrinking a failing history.
LONGEST_SEARCH_S = 600.0
WHILE_SHRINKING_S = 1.0
LONG_LIFE_S, SHORT_LIFE_S, BEYOND_S = 36_000.0, 60.0, 10.0
# A gateway access token has to live this many times as long as a merchant token.
_LIVES = 6
_FEWER_LIVES, _LEEWAY_S = 3, 8.0


@dataclass(frozen=True, kw_only=True, slots=True)
class Setting:
    """The settings of all histories: the target's capabilities, the merchant, and token lifetimes."""

    offer: Offer
    life_s: float
    beyond_s: float
    hears: bool
    names: tuple[str, ...]
    federated: bool = False
    asks_always: bool = True


def explore(anew: Callable[[], World], draw: Draw, *, timed: bool) -> None:
    """Expects that no generated history violates the state table.

    `timed` histories move the gateway's clock, so nothing else may use the target meanwhile.
    """
    setting = _settled(anew(), timed=timed)
    if draw.replay is not None:
        violation = _played(anew, setting, PROVISIONING_S, _stored(draw.replay))
        observe(histories=1)
        _judge(setting, violation)
        return
    memory, rows, played = Memory(), Counter[str](), 0
    unjudged: list[Unmet | LeftOut] = []
    violation = _known(anew, setting, draw)
    for turn in _turns(draw):
        if violation is not None:
            break
        played = turn + 1
        play = _begin(anew(), setting, PROVISIONING_S)
        rng = seeded(draw.seed, "timed" if timed else "untimed", turn)
        offer = narrowed(setting.offer, turn, rng)
        try:
            violation, lacking = play_random(play, offer, memory, rng, steps=STEPS, probes=PROBES)
        except (Unmet, LeftOut) as unmet:
            # A history without a verdict does not affect the next one.
            unjudged.append(unmet)
            if len(unjudged) == MOST_UNJUDGED:
                break
            continue
        rows.update(play.rows)
        left = less(setting.offer, lacking) if lacking is not None else setting.offer
        setting = replace(setting, offer=left, asks_always=play.driver.asks_always)
    if violation is None and unjudged:
        _record_rows(rows, played)
        raise unjudged[0]
    if violation is not None:
        violation = _kept(anew, setting, draw, violation)
    _claim(setting, violation, rows, played)


def _turns(draw: Draw) -> Iterator[int]:
    """The numbers of the histories: limited by the budget, or by the time of the campaign."""
    if draw.campaign is not None:
        yield from draw.campaign.turns()
        return
    begun = time.monotonic()
    for turn in range(max(1, draw.examples * 3 // 5)):
        if time.monotonic() > begun + LONGEST_S:
            return
        yield turn


def _known(anew: Callable[[], World], setting: Setting, draw: Draw) -> Violation | None:
    """The first stored history of a campaign that still fails."""
    for story in draw.campaign.stored(draw.check) if draw.campaign is not None else []:
        with suppress(NotAHistory, Unmet, LeftOut):
            if (violation := _played(anew, setting, PROVISIONING_S, _stored(story))) is not None:
                return violation
    return None


def _kept(anew: Callable[[], World], setting: Setting, draw: Draw, found: Violation) -> Violation:
    """The history to report. A campaign stores it before shrinking, because that takes a while."""
    first = _store(draw, found)
    shown = _shrunk(anew, setting, found) if draw.shrinks else found
    last = _store(draw, shown)
    if first is not None and last not in {None, first}:
        first.unlink(missing_ok=True)
    return shown


def _store(draw: Draw, found: Violation) -> Path | None:
    """Stores the history in a campaign; if storing fails, it is reported all the same."""
    with suppress(OSError):
        return None if draw.campaign is None else draw.campaign.store(draw.check, _replayable(found))
    return None


def _shrunk(anew: Callable[[], World], setting: Setting, found: Violation) -> Violation:
    """The shortest failing history, played once more with full waits; else the original one.

    Errors of the target and long waits end the search, but not the report.
    """
    until, broke = time.monotonic() + LONGEST_SEARCH_S, False

    def played(patience_s: float, history: History) -> Violation | None:
        nonlocal broke
        if broke or time.monotonic() > until:
            return None
        try:
            return _played(anew, setting, patience_s, history)
        except (Unmet, LeftOut):
            # Without an earlier step, a sign-in may crash; then there is no verdict.
            return None
        except Exception:  # noqa: BLE001 - the original failure is reported
            broke = True
            return None

    smallest = shortest(found, lambda history: played(WHILE_SHRINKING_S, history))
    again = played(PROVISIONING_S, smallest.history)
    return again or played(PROVISIONING_S, found.history) or found


def _played(
    anew: Callable[[], World], setting: Setting, patience_s: float, history: History
) -> Violation | None:
    return repeat(_begin(anew(), setting, patience_s), history)


def _claim(setting: Setting, violation: Violation | None, rows: Mapping[str, int], played: int) -> None:
    """The claim about all histories."""
    _record_rows(rows, played)
    _judge(setting, violation)


def _judge(setting: Setting, violation: Violation | None) -> None:
    """Expects no failure; a failing history is stored for replay."""
    if violation is None:
        expect.that(True, "histories", expected="answers that the state table allows", got="no other")
        return
    story = sentences_of(violation, setting.names)
    repeat_with({**_replayable(violation), "story": story})
    what = f"the state table at step {len(story)}"
    expect.that(False, what, expected=violation.expected, got=violation.got)


def _record_rows(rows: Mapping[str, int], played: int) -> None:
    """Records how often each transition of the state table was taken, including zeros."""
    observe(histories=played, **dict(sorted({**dict.fromkeys(TABLE, 0), **rows}.items())))


def _replayable(violation: Violation) -> dict[str, Any]:
    return {"kind": KIND, "steps": to_json(violation.history)}


def _stored(replay: Mapping[str, Any]) -> History:
    if replay.get("kind") != KIND:
        raise NotAHistory("expected a stored history")
    return from_json(replay.get("steps"))


def _begin(world: World, setting: Setting, patience_s: float) -> Play:
    """Starts a history with its own users and Project."""
    users, journal_reader = _users(world, setting.offer), None
    if setting.hears and world.merchant is not None:
        journal_reader = JournalReader(
            merchant=world.merchant, users=users, life_s=setting.life_s, federated=setting.federated
        )
        journal_reader.moved(world.clock.offset_s)
    driver = Driver(
        world=world,
        users=users,
        journal_reader=journal_reader,
        life_s=setting.life_s,
        beyond_s=setting.beyond_s,
        patience_s=patience_s,
        asks_always=setting.asks_always,
    )
    facts = TargetFacts(hears=journal_reader is not None, life_s=setting.life_s)
    # Merchant errors of an earlier or parallel history may still affect this one: all use the same host.
    worker_state = world.worker_state
    troubled = worker_state.shares_merchant or time.monotonic() < worker_state.merchant_failed_at + BREAKER_S
    return Play(driver=driver, state=State(facts=facts, troubled=troubled), worker_state=world.worker_state)


def _users(world: World, offer: Offer) -> tuple[User, ...]:
    """The run's users if it can create Projects; otherwise new users."""
    if isinstance(world.projects.pool, ControlledProjects) or world.merchant is None:
        return world.users[: offer.users]
    return tuple(new_user(world, world.merchant) for _ in range(offer.users))


def _settled(world: World, *, timed: bool) -> Setting:
    """The target's capabilities, determined with the normal flow."""
    if timed and not world.clock.can_move():
        raise Unavailable("control:advance_clock", "needs the control action advance_clock")
    setting = _offered(world, timed=timed)
    play = _begin(world, setting, PROVISIONING_S)
    provisioned, lasts_s = False, 0.0
    for step in USUAL:
        try:
            seen, violation = play.take(step)
        except Impossible as without:
            require.that(
                False,
                f"{type(step).__name__} of the normal flow",
                expected="a possible step",
                got=str(without),
            )
            raise
        provisioned |= any(heard.grant == "provisioning" for heard in seen.heard)
        if isinstance(step, Exchange):
            lasts_s = seen.until - seen.at
        if violation is not None:
            what = f"{type(step).__name__} of the normal flow"
            verb = require.step_of(_OWNED[type(step)]) if type(step) in _OWNED else require
            verb.that(False, what, expected=violation.expected, got=violation.got)
    if setting.hears and not provisioned:
        manners = tuple(manner for manner in setting.offer.manners if manner != "rejects")
        setting = replace(setting, federated=True, offer=replace(setting.offer, manners=manners))
    if timed and lasts_s < _LIVES * (SHORT_LIFE_S + BEYOND_S):
        life_s = float(max(2, int(lasts_s / _FEWER_LIVES - _LEEWAY_S)))
        setting = replace(setting, life_s=life_s, beyond_s=_LEEWAY_S)
    return setting


def _offered(world: World, *, timed: bool) -> Setting:
    may = world.capabilities
    made = isinstance(world.projects.pool, ControlledProjects)
    hears = world.merchant is not None and (
        made or world.projects.home().resource.merchant_client_id is not None
    )
    users = 2 if (hears and not made) or "users:2" in may else 1
    clients, revoking = "control:create_proxy_client" in may, "control:revoke_proxy_client" in may
    holding = made and "control:set_agent_policy" in may
    offer = Offer(
        users=users,
        projects=2 if made else 1,
        holding=holding,
        approving=holding and "control:approve_agent" in may,
        declining="sign-in:decline" in may,
        new_clients=clients,
        revoking_first=made and revoking,
        revoking=clients and revoking,
        manners=_manners(may, timed=timed) if hears else (),
        forward=("merchant token", "Proxy token") if timed else (),
    )
    names = tuple(user.name for user in world.users[:users]) if made else ("A user", "Another user")
    life_s = SHORT_LIFE_S if timed else LONG_LIFE_S
    return Setting(offer=offer, life_s=life_s, beyond_s=BEYOND_S, hears=hears, names=names)


def _manners(may: Container[str], *, timed: bool) -> tuple[Manner, ...]:
    """The merchant's behaviors; without faults, it only accepts or rejects."""
    return tuple(
        manner for manner in (_TIMED if timed else _UNTIMED) if "faults" in may or manner not in TROUBLED
    )


# Without a movable clock, tokens are never refreshed.
_UNTIMED: tuple[Manner, ...] = ("accepts", "rejects", "stumbles once")
_TIMED: tuple[Manner, ...] = get_args(Manner)
