"""A history is data: it survives JSON, is refused where it makes no sense, and can be cut anywhere."""

from __future__ import annotations

import json
from typing import Any

import pytest

from gateproof.conformance.histories.machine import USUAL
from gateproof.conformance.histories.steps import (
    AskProxyToken,
    Authorize,
    Exchange,
    Forward,
    History,
    Merchant,
    NewProject,
    NewProxyClient,
    NotAHistory,
    Redeem,
    Register,
    Revoke,
    from_json,
    to_json,
    without,
)

LONG: History = (
    NewProject(policy="hold"),
    Register(),
    Register(),
    Authorize(agent=0, project=0),
    Authorize(agent=1, project=0, user=1, approves=False),
    Exchange(code=0),
    NewProxyClient(project=0),
    AskProxyToken(client=0),
    AskProxyToken(client=1),
    Revoke(client=1),
    Merchant(project=0, user=1, manner="rotates refresh tokens"),
    Forward(past="merchant token"),
    Redeem(code=0, token=1),
)


@pytest.mark.parametrize("history", [USUAL, LONG])
def test_history_survives_json(history: History) -> None:
    assert from_json(json.loads(json.dumps(to_json(history)))) == history


@pytest.mark.parametrize(
    ("document", "said"),
    [
        ([], "expected a list of 1 to"),
        ("register", "expected a list of 1 to"),
        ([{"do": "fly"}], "step 1: found 'fly', expected 'do' with one of new Project"),
        ([{"do": "register", "agent": 0}], "step 1: unknown key 'agent' in 'register'"),
        ([{"do": "exchange"}], "step 1: 'exchange' lacks one of code"),
        ([{"do": "new Project", "policy": "maybe"}], "policy: found 'maybe', expected approve or hold"),
        ([{"do": "exchange", "code": True}], "code: found True, expected int"),
        ([{"do": "exchange", "code": -1}], "code: found -1, expected int"),
        ([{"do": "revoke Proxy client", "client": 0}], "step 1: no earlier step creates the client"),
        (
            [{"do": "new Project"}, {"do": "redeem", "code": 0, "token": 0}],
            "step 2: no earlier step creates the code",
        ),
    ],
)
def test_what_is_no_history_is_refused(document: Any, said: str) -> None:
    with pytest.raises(NotAHistory, match=said.replace("(", r"\(")):
        from_json(document)


def test_what_stands_on_a_step_goes_with_it() -> None:
    """The second agent becomes the first, and what it did is kept."""
    shorter = without(LONG, 1)
    assert shorter[:3] == (
        NewProject(policy="hold"),
        Register(),
        Authorize(agent=0, project=0, user=1, approves=False),
    )
    assert not any(isinstance(step, Exchange | Redeem) for step in shorter)


def test_later_things_move_up() -> None:
    assert without(LONG, 7)[-1] == Redeem(code=0, token=0)
    assert from_json(to_json(without(LONG, 7, 10)))


def test_cut_history_is_a_history_wherever_it_is_cut() -> None:
    for place in range(1, len(LONG)):
        from_json(to_json(without(LONG, place)))
