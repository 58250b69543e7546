"""Agents that compare the state correctly in some redirects, but not in others."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Mapping
from fnmatch import fnmatchcase
from typing import Any

from gateproof.reference.agent.browser import open_browser
from gateproof.reference.agent.policy import authorization
from gateproof.reference.agent.policy.authorization import Attempt, Query
from gateproof.reference.defects.agent.later_runs import has_stored_token
from gateproof.reference.defects.agent.restarts import after_refused_code
from gateproof.reference.defects.agent.row import defect

_POLL_S = 0.02


def said(query: Query) -> str | None:
    return next(iter(query.get("state", ())), None)


def missing_later(query: Query, attempt: Attempt) -> bool:
    """Accepts a redirect without a state once the install has had tokens."""
    return (said(query) is None and has_stored_token()) or authorization.is_ours(query, attempt)


def compared_once() -> dict[str, Any]:
    """Compares the state only in the first redirect; after that, accepts a redirect without a state."""
    asked: list[Attempt] = []

    def is_ours(query: Query, attempt: Attempt) -> bool:
        if attempt not in asked:
            asked.append(attempt)
            return authorization.is_ours(query, attempt)
        return said(query) is None

    return {"is_ours": is_ours, "waits_for_ours": True}


def never_emptied() -> dict[str, Any]:
    """Accepts the state of every authorization of this run."""
    asked: list[str] = []

    def is_ours(query: Query, attempt: Attempt) -> bool:
        asked.append(attempt.state)
        return said(query) in asked

    return {"is_ours": is_ours}


def settled_by_an_error(passes: Callable[[Query], bool]) -> dict[str, Any]:
    """Ignores a redirect with an error, and accepts the next one without its state if `passes` is true."""
    refused: list[Query] = []

    def is_ours(query: Query, attempt: Attempt) -> bool:
        if "error" in query:
            refused.append(query)
            return False
        return (bool(refused) and passes(query)) or authorization.is_ours(query, attempt)

    return {"is_ours": is_ours, "waits_for_ours": True}


def is_a_key(query: Query, attempt: Attempt) -> bool:
    """Looks up `pending[state]` in a JavaScript object, which has inherited properties."""
    return said(query) in {attempt.state, "constructor", "toString", "valueOf", "__proto__"}


def is_fitted(query: Query, attempt: Attempt) -> bool:
    """Compares with `[[ $expected == $state ]]` in a shell, where $state is a pattern."""
    return fnmatchcase(attempt.state, said(query) or "")


def is_expressed(query: Query, attempt: Attempt) -> bool:
    """Compares with `expected.matches(state)`, where state is a regular expression."""
    try:
        return re.fullmatch(said(query) or "", attempt.state) is not None
    except re.error:
        return False


def what_came_last() -> dict[str, Any]:
    """Waits until the browser has ended, and then takes the last redirect that has come."""
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
    defect(
        "later-state-may-be-missing (AGENT-05): In later runs, the agent accepts a redirect without a state.",
        is_ours=missing_later,
    ),
    defect(
        "any-state-after-a-refusal (AGENT-05): After a refused code, the agent accepts any state.",
        **after_refused_code("is_ours", authorization.is_ours, lambda *_: True),
    ),
    defect(
        "state-compared-once (AGENT-05): After a redirect with a wrong state, the agent accepts a redirect "
        "without a state.",
        **compared_once(),
    ),
    defect(
        "state-of-an-answered-request (AGENT-05): The agent accepts the state of an earlier authorization "
        "of the same run.",
        **never_emptied(),
    ),
    defect(
        "any-state-after-an-error (AGENT-05): After a redirect with an error, the agent accepts any state "
        "in the next one.",
        **settled_by_an_error(lambda _: True),
    ),
    defect(
        "no-state-after-an-error (AGENT-05): After a redirect with an error, the agent accepts the next one "
        "without a state.",
        **settled_by_an_error(lambda query: said(query) is None),
    ),
    defect(
        "iss-in-place-of-the-state (AGENT-05): The agent does not compare the state if the redirect names "
        "the right issuer.",
        is_ours=lambda query, attempt: "iss" in query or authorization.is_ours(query, attempt),
    ),
    defect(
        "iss-in-place-of-a-missing-state (AGENT-05): The agent accepts a redirect without a state if it "
        "names the right issuer.",
        is_ours=lambda query, attempt: (
            (said(query) is None and "iss" in query) or authorization.is_ours(query, attempt)
        ),
    ),
    defect(
        "state-without-its-spaces (AGENT-05): The agent ignores whitespace around the state.",
        is_ours=lambda query, attempt: (said(query) or "").strip() == attempt.state,
    ),
    defect(
        "state-as-a-key (AGENT-05): The agent looks up the state in a JavaScript object, and accepts "
        "inherited names such as `constructor`.",
        is_ours=is_a_key,
    ),
    defect(
        "state-as-a-pattern (AGENT-05): The agent compares its state with the redirect's as a shell "
        "pattern, so that `*` matches.",
        is_ours=is_fitted,
    ),
    defect(
        "state-as-an-expression (AGENT-05): The agent compares its state with the redirect's as a regular "
        "expression, and ignores redirects that do not match.",
        is_ours=is_expressed,
        waits_for_ours=True,
    ),
    defect(
        "last-redirect-when-the-browser-returns (AGENT-05): The agent does not compare the state: it takes "
        "the last redirect that has come when the browser ends.",
        **what_came_last(),
    ),
)
