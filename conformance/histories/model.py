"""The state and error tables of the specification as a model: which results each step may have.

Pure functions: from a state and a step with its result follows the next state, or a violation. The model
allows everything that the specification allows; see `vault` for merchant tokens.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from gateproof.conformance.histories.model_update import overheard
from gateproof.conformance.histories.observation import Seen
from gateproof.conformance.histories.redemption import redeemed
from gateproof.conformance.histories.sign_ins import authorized
from gateproof.conformance.histories.state import Client, Code, Judged, State, Token, put
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

ALLOWED: Mapping[str, str] = {
    "201": "status 201",
    "code": "a code",
    "no code": "no code",
    "tokens": "status 200 with tokens",
    "Proxy token": "status 200 with a Proxy token",
    "invalid_grant": "invalid_grant",
    "200": "status 200 with a merchant token of this user's that has not expired",
    "401": "status 401",
    "404": "status 404",
    "410": "status 410",
    "4xx": "a refusal (a 4xx status)",
    "5xx": "a 5xx status",
}


def judge(state: State, step: Step, seen: Seen) -> Judged:
    """Judges a step, after the merchant calls that were seen with it."""
    if not isinstance(step, Authorize | Redeem):
        # At other steps, calls belong to no specific agent.
        state = overheard(state, seen)
    return _JUDGES[type(step)](state, step, seen)


def in_words(allowed: frozenset[str]) -> str:
    """The allowed results as text."""
    return " or ".join(ALLOWED[word] for word in sorted(allowed)) or "nothing, after the earlier steps"


def _new_project(state: State, step: NewProject, _seen: Seen) -> Judged:
    clients = (*state.clients, Client(project=len(state.projects)))
    return Judged(state=replace(state, projects=(*state.projects, step.policy), clients=clients))


def _registered(state: State, _step: Register, seen: Seen) -> Judged:
    row = "registration, held: Pending" if "hold" in state.projects else "registration, approved"
    new = replace(state, agents=(*state.agents, len(state.projects)))
    return _one(seen, "201", new, row)


def _approved(state: State, step: Approve, _seen: Seen) -> Judged:
    place = (step.agent, step.project)
    new = replace(state, approved=state.approved | {place}, pending=state.pending - {place})
    return Judged(state=new, rows=("Pending, approved by the operator: approved",))


def _exchanged(state: State, step: Exchange, seen: Seen) -> Judged:
    code = state.codes[step.code]
    if code.stands != "waits":
        shaken = replace(code, shaken=code.stands == "tokens" or code.shaken)
        codes = _maybe_revoked(put(state.codes, step.code, shaken), code)
        new = replace(state, codes=codes)
        return _one(seen, "invalid_grant", new, "code used again: invalid_grant")
    gone = replace(code, stands="used up")
    may_be_over = code.aged or seen.at > code.until
    if may_be_over and seen.came == "invalid_grant":
        return Judged(state=replace(state, codes=put(state.codes, step.code, gone)))
    done = replace(code, stands="tokens", until=seen.until)
    new = replace(state, codes=put(state.codes, step.code, done))
    return _one(seen, "tokens", new, "code exchanged")


def _maybe_revoked(codes: tuple[Code, ...], reused: Code) -> tuple[Code, ...]:
    """Marks everything that this agent got for this user as possibly invalid.

    A reused code may be a stolen one, so a gateway may revoke all tokens and codes of the authorization, not
    only those of this code (RFC 6749 section 4.1.2).
    """
    whose = (reused.agent, reused.user)
    return tuple(
        replace(
            code, doubted=code.doubted or code.stands == "tokens", aged=code.aged or code.stands == "waits"
        )
        if (code.agent, code.user) == whose
        else code
        for code in codes
    )


def _new_proxy_client(state: State, step: NewProxyClient, _seen: Seen) -> Judged:
    return Judged(state=replace(state, clients=(*state.clients, Client(project=step.project))))


def _proxy_token(state: State, step: AskProxyToken, seen: Seen) -> Judged:
    if state.clients[step.client].revoked:
        new = replace(state, tokens=(*state.tokens, Token(client=None)))
        return _one(seen, "401", new, "Proxy token request, revoked: 401")
    new = replace(state, tokens=(*state.tokens, Token(client=step.client, until=seen.until)))
    return _one(seen, "Proxy token", new, "Proxy token request, active")


def _revoked(state: State, step: Revoke, _seen: Seen) -> Judged:
    gone = replace(state.clients[step.client], revoked=True)
    new = replace(state, clients=put(state.clients, step.client, gone))
    return Judged(state=new, rows=("Proxy client active, revoked: revoked",))


def _merchant(state: State, step: Merchant, _seen: Seen) -> Judged:
    manners = {**state.manners, (step.project, step.user): step.manner}
    return Judged(state=replace(state, manners=manners))


def _forward(state: State, _step: Forward, _seen: Seen) -> Judged:
    """The lifetime of codes is open: unused ones may have expired now."""
    return Judged(state=replace(state, codes=tuple(replace(code, aged=True) for code in state.codes)))


def _one(seen: Seen, allowed: str, new: State, *rows: str) -> Judged:
    """The step has exactly one allowed result."""
    came = seen.came == allowed
    return Judged(state=new if came else None, allowed=frozenset({allowed}), rows=rows if came else ())


_JUDGES: Mapping[type[Step], Callable[[State, Any, Seen], Judged]] = {
    NewProject: _new_project,
    Register: _registered,
    Authorize: authorized,
    Approve: _approved,
    Exchange: _exchanged,
    NewProxyClient: _new_proxy_client,
    AskProxyToken: _proxy_token,
    Revoke: _revoked,
    Redeem: redeemed,
    Merchant: _merchant,
    Forward: _forward,
}
