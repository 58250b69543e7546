"""Describes a history in sentences, with the result of each step."""

from __future__ import annotations

from collections.abc import Sequence

from gateproof.conformance.histories.step_loop import Violation
from gateproof.conformance.histories.steps import (
    Approve,
    AskProxyToken,
    Authorize,
    Exchange,
    Forward,
    Merchant,
    NewProject,
    NewProxyClient,
    Redeem,
    Register,
    Revoke,
    Step,
)

_MANNERS = {
    "accepts": "The merchant accepts {who} again",
    "rejects": "From now on the merchant rejects what the gateway asks for {who}",
    "rejects refreshes": "From now on the merchant rejects every refresh for {who}",
    "rotates refresh tokens": "From now on each refresh for {who} brings a new refresh token",
    "repeats no refresh token": "From now on a refresh for {who} brings no refresh token: the old one stays",
    "gives no refresh token": "From now on the merchant gives no refresh token for {who}",
    "stumbles once": "The merchant is about to answer one request for {who} with a server error",
    "rotates and loses the answer": "The merchant is about to carry out one request for {who}, with a new "
    "refresh token, and to answer it with a server error",
}


def sentences_of(violation: Violation, users: Sequence[str]) -> list[str]:
    """The sentences about a violation; the last one has the result and what was allowed."""
    teller = _Teller(users)
    story = []
    for number, (step, said) in enumerate(zip(violation.history, violation.said, strict=True), start=1):
        sentence = teller.tell(number, step)
        story.append(f"{sentence}: {said}." if said else f"{sentence}.")
    ends = f"got {violation.got}, expected {violation.expected}."
    story[-1] = f"{sentence}: {ends}"
    return story


class _Teller:
    """Describes step by step; objects are named by the step that created them."""

    def __init__(self, users: Sequence[str]) -> None:
        self._users = users
        self._made: dict[str, list[int]] = {
            kind: [] for kind in ("project", "agent", "code", "client", "token")
        }
        # For each code, the number of its agent.
        self._agents: list[int] = []

    def tell(self, number: int, step: Step) -> str:
        sentence = self._sentence(step)
        for kind in step.makes:
            self._made[kind].append(number)
        if isinstance(step, Authorize):
            self._agents.append(step.agent)
        return sentence

    def _sentence(self, step: Step) -> str:
        match step:
            case Authorize():
                does = "approves" if step.approves else "declines"
                where = f"agent {step.agent + 1} at Project {step.project + 1}"
                return f"{self._users[step.user]} signs in for {where} and {does}"
            case Register():
                return f"Agent {len(self._made['agent']) + 1} registers"
            case Exchange():
                return f"Agent {self._agents[step.code] + 1} exchanges {self._code(step.code)}"
            case AskProxyToken():
                return f"Proxy client {step.client + 1} asks for a Proxy token"
            case Redeem():
                got = f"the access token of agent {self._agents[step.code] + 1} for {self._code(step.code)}"
                given = self._made["token"][step.token]
                return f"The backend redeems {got} with the Proxy token of step {given}"
            case _:
                return self._direction(step)

    def _direction(self, step: Step) -> str:
        match step:
            case NewProject():
                manner = "approves new agents" if step.policy == "approve" else "holds new agents as Pending"
                number, client = len(self._made["project"]) + 1, len(self._made["client"]) + 1
                return f"There is Project {number}, which {manner}, with Proxy client {client}"
            case Approve():
                return f"The operator approves agent {step.agent + 1} in Project {step.project + 1}"
            case NewProxyClient():
                return f"Project {step.project + 1} gets Proxy client {len(self._made['client']) + 1}"
            case Revoke():
                return f"The operator revokes Proxy client {step.client + 1}"
            case Merchant():
                at = "" if len(self._made["project"]) == 1 else f" at Project {step.project + 1}"
                return _MANNERS[step.manner].format(who=self._users[step.user] + at)
            case Forward():
                return f"The gateway's clock moves past the life of every {step.past}"
        raise AssertionError("there is no other step")

    def _code(self, which: int) -> str:
        return f"the code of step {self._made['code'][which]}"
