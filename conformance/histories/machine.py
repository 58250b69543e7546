"""Plays generated histories against a gateway until one surprises, and cuts that one down."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Container, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, get_args

from gateproof.conformance.histories.capabilities import TROUBLED, Offer, less, narrowed, seeded
from gateproof.conformance.histories.driver import Impossible, Player
from gateproof.conformance.histories.merchant_journal import Ear
from gateproof.conformance.histories.planning import Memory
from gateproof.conformance.histories.shrinking import shortest
from gateproof.conformance.histories.state import Ground, State
from gateproof.conformance.histories.step_loop import Play, Surprise, repeat, wander
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
    from_json,
    to_json,
)
from gateproof.conformance.histories.story import told
from gateproof.conformance.histories.table import TABLE
from gateproof.conformance.kit.gateway.isolated_user import new_user
from gateproof.conformance.kit.gateway.merchant_backoff import SPARING_S
from gateproof.conformance.kit.gateway.project_pool import ControlledProjects
from gateproof.conformance.kit.gateway.world import World
from gateproof.conformance.suite.claims import Unavailable, Unmet, expect, observe, repeat_with, require
from gateproof.conformance.suite.generated_input import Draw
from gateproof.conformance.suite.parties import User

KIND = "history"
# The walk that every history varies; a gateway that does not get through it breaks other rules.
USUAL: History = (
    NewProject(),
    Register(),
    Authorize(agent=0, project=0),
    Exchange(code=0),
    AskProxyToken(client=0),
    Redeem(code=0, token=0),
)
STEPS, PROBES = 32, 3
# So many histories may end in what cannot be judged.
MOST_UNJUDGED = 3
# Where an answer takes long, fewer histories are played.
LONGEST_S = 120.0
# And a history that surprised is cut down for so long.
LONGEST_SEARCH_S = 600.0
PROVISIONED_S, WHILE_SHRINKING_S = 5.0, 1.0
LONG_LIFE_S, SHORT_LIFE_S, BEYOND_S = 36_000.0, 60.0, 10.0
# How many lives of a merchant token a gateway access token has to last.
_LIVES = 6
_FEWER_LIVES, _LEEWAY_S = 3, 8.0


@dataclass(frozen=True, kw_only=True, slots=True)
class Setting:
    """What histories are played with: the target's offer, the merchant's ways, and how long tokens live."""

    offer: Offer
    life_s: float
    beyond_s: float
    hears: bool
    names: tuple[str, ...]
    federated: bool = False
    asks_always: bool = True


def explore(anew: Callable[[], World], draw: Draw, *, timed: bool) -> None:
    """No generated history comes to anything that the state table does not allow.

    `timed` histories move the gateway's clock, so nobody else may use the target meanwhile.
    """
    setting = _settled(anew(), timed=timed)
    if draw.replay is not None:
        surprise = _played(anew, setting, PROVISIONED_S, _stored(draw.replay))
        observe(histories=1)
        _judge(setting, surprise)
        return
    memory, rows, played = Memory(), Counter[str](), 0
    unjudged: list[Unmet] = []
    surprise = _known(anew, setting, draw)
    for turn in _turns(draw):
        if surprise is not None:
            break
        played = turn + 1
        play = _begin(anew(), setting, PROVISIONED_S)
        rng = seeded(draw.seed, "timed" if timed else "untimed", turn)
        offer = narrowed(setting.offer, turn, rng)
        try:
            surprise, lacking = wander(play, offer, memory, rng, steps=STEPS, probes=PROBES)
        except Unmet as unmet:
            # One that ends in what cannot be judged says nothing of the next.
            unjudged.append(unmet)
            if len(unjudged) == MOST_UNJUDGED:
                break
            continue
        rows.update(play.rows)
        left = less(setting.offer, lacking) if lacking is not None else setting.offer
        setting = replace(setting, offer=left, asks_always=play.player.asks_always)
    if surprise is None and unjudged:
        _tell(rows, played)
        raise unjudged[0]
    if surprise is not None:
        surprise = _kept(anew, setting, draw, surprise)
    _claim(setting, surprise, rows, played)


def _turns(draw: Draw) -> Iterator[int]:
    """The numbers of the histories to play: as many as the budget says, or as long as the campaign lasts."""
    if draw.campaign is not None:
        yield from draw.campaign.turns()
        return
    begun = time.monotonic()
    for turn in range(max(1, draw.examples * 3 // 5)):
        if time.monotonic() > begun + LONGEST_S:
            return
        yield turn


def _known(anew: Callable[[], World], setting: Setting, draw: Draw) -> Surprise | None:
    """The first history that surprised in a campaign before, and still does."""
    for story in draw.campaign.stored(draw.check) if draw.campaign is not None else []:
        with suppress(NotAHistory, Unmet):
            if (surprise := _played(anew, setting, PROVISIONED_S, _stored(story))) is not None:
                return surprise
    return None


def _kept(anew: Callable[[], World], setting: Setting, draw: Draw, found: Surprise) -> Surprise:
    """The history to tell of; a campaign keeps it as it was found first: to cut it down takes a while."""
    first = _store(draw, found)
    shown = _shrunk(anew, setting, found) if draw.shrinks else found
    last = _store(draw, shown)
    if first is not None and last not in {None, first}:
        first.unlink(missing_ok=True)
    return shown


def _store(draw: Draw, found: Surprise) -> Path | None:
    """Where a campaign keeps the history; where nothing can be kept any more, it is told all the same."""
    with suppress(OSError):
        return None if draw.campaign is None else draw.campaign.store(draw.check, _replayable(found))
    return None


def _shrunk(anew: Callable[[], World], setting: Setting, found: Surprise) -> Surprise:
    """The shortest history, played once more with all patience; if nothing comes of that, the one found.

    A target that breaks down, or has somebody wait, ends the search and takes nothing from what was found.
    """
    until, broke = time.monotonic() + LONGEST_SEARCH_S, False

    def played(patience_s: float, history: History) -> Surprise | None:
        nonlocal broke
        if broke or time.monotonic() > until:
            return None
        try:
            return _played(anew, setting, patience_s, history)
        except Unmet:
            # Without some step, a sign-in may crash that is to give no code: who can judge that?
            return None
        except Exception:  # noqa: BLE001 - whatever it is, there is a surprise to tell of
            broke = True
            return None

    smallest = shortest(found, lambda history: played(WHILE_SHRINKING_S, history))
    again = played(PROVISIONED_S, smallest.history)
    return again or played(PROVISIONED_S, found.history) or found


def _played(
    anew: Callable[[], World], setting: Setting, patience_s: float, history: History
) -> Surprise | None:
    return repeat(_begin(anew(), setting, patience_s), history)


def _claim(setting: Setting, surprise: Surprise | None, rows: Mapping[str, int], played: int) -> None:
    """The claim about all that was played."""
    _tell(rows, played)
    _judge(setting, surprise)


def _judge(setting: Setting, surprise: Surprise | None) -> None:
    """Nothing surprised; what did is kept so that it can be seen again."""
    if surprise is None:
        expect.that(True, "histories", expected="answers that the state table allows", got="no other")
        return
    story = told(surprise, setting.names)
    repeat_with({**_replayable(surprise), "story": story})
    what = f"the state table at step {len(story)}"
    expect.that(False, what, expected=surprise.expected, got=surprise.got)


def _tell(rows: Mapping[str, int], played: int) -> None:
    """How often each transition was gone through, and those of the state table that never were."""
    observe(histories=played, **dict(sorted({**dict.fromkeys(TABLE, 0), **rows}.items())))


def _replayable(surprise: Surprise) -> dict[str, Any]:
    return {"kind": KIND, "steps": to_json(surprise.history)}


def _stored(replay: Mapping[str, Any]) -> History:
    if replay.get("kind") != KIND:
        raise NotAHistory("expected a stored history")
    return from_json(replay.get("steps"))


def _begin(world: World, setting: Setting, patience_s: float) -> Play:
    """A history that is about to begin, with users and a Project that no other history knows."""
    users, ear = _users(world, setting.offer), None
    if setting.hears and world.merchant is not None:
        ear = Ear(merchant=world.merchant, users=users, life_s=setting.life_s, federated=setting.federated)
        ear.moved(world.clock.offset_s)
    player = Player(
        world=world,
        users=users,
        ear=ear,
        life_s=setting.life_s,
        beyond_s=setting.beyond_s,
        patience_s=patience_s,
        asks_always=setting.asks_always,
    )
    ground = Ground(hears=ear is not None, life_s=setting.life_s)
    # What one history put the merchant through, the next one may still meet, and others beside it: its host
    # is the same.
    standing = world.standing
    troubled = standing.in_company or time.monotonic() < standing.troubled_at + SPARING_S
    return Play(player=player, state=State(ground=ground, troubled=troubled), standing=world.standing)


def _users(world: World, offer: Offer) -> tuple[User, ...]:
    """Where Projects are made, users are strangers to each; elsewhere they have to be."""
    if isinstance(world.projects.pool, ControlledProjects) or world.merchant is None:
        return world.users[: offer.users]
    return tuple(new_user(world, world.merchant) for _ in range(offer.users))


def _settled(world: World, *, timed: bool) -> Setting:
    """What the target lets a history do, found out on the walk that every history varies."""
    if timed and not world.clock.can_move():
        raise Unavailable("control:advance_clock", "needs the control action advance_clock")
    setting = _offered(world, timed=timed)
    play = _begin(world, setting, PROVISIONED_S)
    provisioned, lasts_s = False, 0.0
    for step in USUAL:
        try:
            seen, surprise = play.take(step)
        except Impossible as without:
            require.that(False, f"{type(step).__name__} on the usual way", expected="a way", got=str(without))
            raise
        provisioned |= any(heard.grant == "provisioning" for heard in seen.heard)
        if isinstance(step, Exchange):
            lasts_s = seen.until - seen.at
        if surprise is not None:
            what = f"{type(step).__name__} on the usual way"
            require.that(False, what, expected=surprise.expected, got=surprise.got)
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
    """What the merchant may do; where nothing is to go wrong, it says yes or no."""
    return tuple(
        manner for manner in (_TIMED if timed else _UNTIMED) if "faults" in may or manner not in TROUBLED
    )


# Without a clock nothing is ever refreshed.
_UNTIMED: tuple[Manner, ...] = ("accepts", "rejects", "stumbles once")
_TIMED: tuple[Manner, ...] = get_args(Manner)
