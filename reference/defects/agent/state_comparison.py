"""Agents that compare the state as they should in one redirect, and not in another one."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Mapping
from fnmatch import fnmatchcase
from typing import Any

from gateproof.reference.agent.browser import open_browser
from gateproof.reference.agent.policy import authorization
from gateproof.reference.agent.policy.authorization import Attempt, Query
from gateproof.reference.defects.agent.later_runs import been_here
from gateproof.reference.defects.agent.restarts import once_refused
from gateproof.reference.defects.agent.row import defect

_POLL_S = 0.02


def said(query: Query) -> str | None:
    return next(iter(query.get("state", ())), None)


def missing_later(query: Query, attempt: Attempt) -> bool:
    """Once the install has had tokens, a state that is missing is not compared."""
    return (said(query) is None and been_here()) or authorization.is_ours(query, attempt)


def taken_from_the_shelf() -> dict[str, Any]:
    """The state is taken from its shelf to be compared; where nothing is left, no state is right."""
    asked: list[Attempt] = []

    def is_ours(query: Query, attempt: Attempt) -> bool:
        if attempt not in asked:
            asked.append(attempt)
            return authorization.is_ours(query, attempt)
        return said(query) is None

    return {"is_ours": is_ours, "waits_for_ours": True}


def never_emptied() -> dict[str, Any]:
    """What was asked in this run stays on the list of what may be answered."""
    asked: list[str] = []

    def is_ours(query: Query, attempt: Attempt) -> bool:
        asked.append(attempt.state)
        return said(query) in asked

    return {"is_ours": is_ours}


def settled_by_an_error(passes: Callable[[Query], bool]) -> dict[str, Any]:
    """A redirect with an error is passed over, and the state with it: the next redirect may be any."""
    refused: list[Query] = []

    def is_ours(query: Query, attempt: Attempt) -> bool:
        if "error" in query:
            refused.append(query)
            return False
        return (bool(refused) and passes(query)) or authorization.is_ours(query, attempt)

    return {"is_ours": is_ours, "waits_for_ours": True}


def is_a_key(query: Query, attempt: Attempt) -> bool:
    """`if (pending[state])`: an object of JavaScript has members that nobody gave it."""
    return said(query) in {attempt.state, "constructor", "toString", "valueOf", "__proto__"}


def is_fitted(query: Query, attempt: Attempt) -> bool:
    """`[[ $expected == $state ]]`"""
    return fnmatchcase(attempt.state, said(query) or "")


def is_expressed(query: Query, attempt: Attempt) -> bool:
    """`expected.matches(state)`"""
    try:
        return re.fullmatch(said(query) or "", attempt.state) is not None
    except re.error:
        return False


def what_came_last() -> dict[str, Any]:
    """The agent waits for its browser to return, and then takes the last redirect that has come by then."""
    came: list[str] = []
    looked_at: list[Query] = []

    def opened(command: str | None, url: str, say: Callable[[str], None]) -> Callable[[], bool]:
        came.clear()
        looked_at.clear()
        is_done = open_browser(command, url, say)
        while not is_done():
            time.sleep(_POLL_S)
        return is_done

    def told(step: str, facts: Mapping[str, Any]) -> None:
        if step == "redirect":
            came.append(facts["path"])

    def is_ours(query: Query, _attempt: Attempt) -> bool:
        looked_at.append(query)
        return len(looked_at) == len(came)

    return {"open_browser": opened, "told": told, "is_ours": is_ours, "waits_for_ours": True}


DEFECTS = (
    defect("later-state-may-be-missing (AGENT-05): A later run takes no state, too.", is_ours=missing_later),
    defect(
        "any-state-after-a-refusal (AGENT-05): The restart after a refused code takes any state.",
        **once_refused("is_ours", authorization.is_ours, lambda *_: True),
    ),
    defect(
        "state-compared-once (AGENT-05): After a state that is not its own, none is as good as its own.",
        **taken_from_the_shelf(),
    ),
    defect(
        "state-of-an-answered-request (AGENT-05): A state that was answered in this run may be answered "
        "again.",
        **never_emptied(),
    ),
    defect(
        "any-state-after-an-error (AGENT-05): After a redirect with an error, the next one may have any "
        "state.",
        **settled_by_an_error(lambda _: True),
    ),
    defect(
        "no-state-after-an-error (AGENT-05): After a redirect with an error, the next one needs no state.",
        **settled_by_an_error(lambda query: said(query) is None),
    ),
    defect(
        "iss-in-place-of-the-state (AGENT-05): A redirect that names the right issuer needs no state.",
        is_ours=lambda query, attempt: "iss" in query or authorization.is_ours(query, attempt),
    ),
    defect(
        "state-without-its-spaces (AGENT-05): Spaces around the state are passed over.",
        is_ours=lambda query, attempt: (said(query) or "").strip() == attempt.state,
    ),
    defect(
        "state-as-a-key (AGENT-05): The state is looked up as a member of an object, which has some of its "
        "own.",
        is_ours=is_a_key,
    ),
    defect(
        "state-as-a-pattern (AGENT-05): The state of the redirect is a pattern of a shell for its own.",
        is_ours=is_fitted,
    ),
    defect(
        "state-as-an-expression (AGENT-05): The state of the redirect is a regular expression for its own, "
        "and what does not fit is passed over.",
        is_ours=is_expressed,
        waits_for_ours=True,
    ),
    defect(
        "last-redirect-when-the-browser-returns (AGENT-05): No state is compared: the last redirect counts "
        "that has come when the browser returns.",
        **what_came_last(),
    ),
)
