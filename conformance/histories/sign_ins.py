"""The allowed results of a sign-in."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from gateproof.conformance.histories.model_update import UNREFRESHABLE, overheard
from gateproof.conformance.histories.observation import Seen
from gateproof.conformance.histories.state import Code, Judged, Standing, State, key_of
from gateproof.conformance.histories.steps import Authorize, Manner
from gateproof.conformance.histories.vault import Entries, Entry, fresh

REJECTS: frozenset[Manner] = frozenset({"rejects"})


def authorized(state: State, step: Authorize, seen: Seen) -> Judged:
    standing = state.standing(step.agent, step.project)
    # If the user approved this agent before and was not asked, the user could not decline.
    unasked = not step.approves and seen.came == "code unasked"
    wanted = "code" if standing == "approved" and (step.approves or unasked) else "no code"
    came = "code" if seen.came == "code unasked" else seen.came
    had = _may_hold(state, step)
    state = overheard(state, seen, step, certain=came == "code")
    if came == "code" and not _asked(seen, step):
        state = _provisioned_silently(state, step, seen.at)
    code = Code(
        agent=step.agent,
        project=step.project,
        user=step.user,
        stands="waits" if came == "code" else "nothing",
        until=seen.until,
    )
    pending = state.pending | ({(step.agent, step.project)} if standing == "Pending" else set())
    before = _maybe_superseded(state.codes, code) if came == "code" else state.codes
    new = replace(state, codes=(*before, code), pending=pending)
    # A gateway may let an agent into one Project only.
    allowed = frozenset({wanted} | ({"no code"} if _came_elsewhere(state, step) else set()))
    if came not in allowed:
        return Judged(state=None, allowed=allowed)
    if came != wanted:
        return Judged(state=new, allowed=allowed)
    return Judged(state=new, allowed=allowed, rows=_sign_in_rows(step, standing, came, seen, had))


def _maybe_superseded(codes: tuple[Code, ...], newer: Code) -> tuple[Code, ...]:
    """Marks older codes of the user and agent as possibly invalid: the specification leaves this open."""
    whose = (newer.agent, newer.user)
    return tuple(replace(code, aged=code.aged or (code.agent, code.user) == whose) for code in codes)


def _sign_in_rows(
    step: Authorize, standing: Standing, came: str, seen: Seen, had: set[str]
) -> tuple[str, ...]:
    if came != "code":
        return ("sign-in, Pending: no code",) if standing == "Pending" else ("sign-in, declined: no code",)
    rejected = any(each.result == "rejected" for each in seen.heard if each.user == step.user)
    if "reauthentication" in had:
        return () if rejected else ("needs reauthentication, sign-in: cached",)
    if "nothing" not in had:
        return ("cached, sign-in",)
    return ("absent, sign-in, rejected: absent" if rejected else "absent, sign-in, accepted: cached",)


def _came_elsewhere(state: State, step: Authorize) -> bool:
    """True if the agent came to another Project before, and never got a code in this one."""
    own = [code for code in state.codes if code.agent == step.agent]
    welcome = any(code.project == step.project and code.stands != "nothing" for code in own)
    return not welcome and any(code.project != step.project for code in own)


def _may_hold(state: State, step: Authorize) -> set[str]:
    vault = state.vaults[0]
    key = key_of(vault, step)
    return {entry.holds for entry in vault.of(key)}


def _asked(seen: Seen, step: Authorize) -> bool:
    return any(
        each.grant == "provisioning" and (each.project, each.user) == (step.project, step.user)
        for each in seen.heard
    )


def _provisioned_silently(state: State, step: Authorize, at: float) -> State:
    """A sign-in without a merchant call: the cached token is still valid, or nothing was done.

    If the merchant would have accepted, a conforming gateway has a token afterwards. If the merchant rejects,
    or the gateway is in a back-off, the state may be unchanged.
    """
    manner = state.manner(step.project, step.user)
    if state.facts.hears and manner in REJECTS:
        return state
    new = fresh(at, state.facts.life_s, refreshable=manner not in UNREFRESHABLE)
    change = _kept_or_not if state.troubled else _kept_while_good
    return replace(
        state,
        vaults=tuple(
            vault.change(key_of(vault, step), partial(change, new=new, at=at)) for vault in state.vaults
        ),
    )


def _kept_while_good(entry: Entry, *, new: Entry, at: float) -> Entries:
    return frozenset({entry if entry.holds == "token" and at < entry.until else new})


def _kept_or_not(entry: Entry, *, new: Entry, at: float) -> Entries:
    return frozenset({entry}) | _kept_while_good(entry, new=new, at=at)
