"""Redirects that a hostile browser delivers: with another state, without one, or twice."""

from __future__ import annotations

import re
import secrets
from collections.abc import Callable
from urllib.parse import parse_qs, quote, urlsplit

from conformance.agent import Agents, Install, carried_out, end_tokens, ended, exchanged_with, works
from conformance.check import check
from conformance.claims import LeftOut, expect, observe, require
from conformance.run.agent_browser import Courier
from conformance.run.agent_visits import Deliver, Visit, bring, codes_in

# So long an agent has to go wrong, before the right redirect comes after the tampered one.
_TEMPTED_S = 1.5
_STATE = re.compile(r"(?<=[?&])state=[^&#]*")
EARLIER = "of an earlier run"
OTHER_CASE = "its own in the other case"


def _another_letter(state: str) -> str:
    return ("A" if state[:1] != "A" else "B") + state[1:]


def _random_like(state: str) -> str:
    return secrets.token_urlsafe(len(state) or 16)[: len(state) or 16]


# What stands in the query in place of the state; the state is given as it was sent.
TAMPERED: dict[str, Callable[[str], str]] = {
    "another": lambda state: f"state={_random_like(state)}",
    "another first letter": lambda state: f"state={quote(_another_letter(state))}",
    "missing": lambda _: "",
    "empty": lambda _: "state=",
    "twice, both wrong": lambda state: f"state={_random_like(state)}&state={quote(_another_letter(state))}",
    "cut short": lambda state: f"state={quote(state[: len(state) // 2])}",
    "its end alone": lambda state: f"state={quote(state[len(state) // 2 :])}",
    "made longer": lambda state: f"state={quote(state)}{_random_like(state)}",
    OTHER_CASE: lambda state: f"state={quote(state.swapcase())}",
    EARLIER: lambda _: EARLIER,
}
# What is said twice is wrong by RFC 6749 section 3.1; which of two an agent looks at, nobody says.
DOUBLED: dict[str, Callable[[str], str]] = {
    "its own first": lambda state: f"state={quote(state)}&state={_random_like(state)}",
    "its own last": lambda state: f"state={_random_like(state)}&state={quote(state)}",
    "its own twice": lambda state: f"state={quote(state)}&state={quote(state)}",
}


@check("AGENT-05", cases=tuple(TAMPERED))
def code_with_a_wrong_state_is_not_exchanged(agents: Agents, case: str) -> None:
    """The code is good, and the state is not the agent's: it belongs to somebody else's authorization.

    Afterwards the right redirect comes, with another code: an agent may wait for it, or end with an error.
    """
    works(agents.normal())
    install, change = agents.install(), TAMPERED[case]
    if case == EARLIER:
        earlier = works(install.launch("a run whose state is kept for the next"))
        state = earlier.visits[-1].value("state") or ""
        end_tokens(install.world)
        change = lambda _: f"state={quote(state)}"  # noqa: E731
    stolen: list[str] = []
    what = f"a run with a redirect whose state is {case}"
    run = ended(install.launch(what, _tampering(install, change, stolen)))
    _taken(run.visits)

    if case == OTHER_CASE and not _is_mixed(run.visits[0].value("state") or ""):
        raise LeftOut("the agent's states have letters of one case only, and may be read in either")
    sent = [each for code in stolen for each in exchanged_with(run, code)]
    expect.that(
        not sent,
        "a redirect with a good code and a state that is not the agent's own",
        expected="no exchange of that code",
        got=f"{len(sent)} at the token endpoint",
        exchange=sent[0].exchange() if sent else None,
    )


@check("AGENT-10")
def code_that_comes_twice_is_exchanged_once(agents: Agents) -> None:
    """A browser that delivers the same redirect again does not make the agent send its code again."""
    works(agents.normal())
    run = ended(agents.install().launch("a run with the redirect delivered twice", _twice))
    _taken(run.visits)

    for code in (code for visit in run.visits for code in set(visit.codes())):
        sent = exchanged_with(run, code)
        expect.that(
            len(sent) <= 1,
            "how often a code is sent that came twice",
            expected="once",
            got=f"{len(sent)} times",
            exchange=sent[-1].exchange() if sent else None,
        )
    carried_out(run)


@check("AGENT-10", cases=tuple(DOUBLED))
def code_that_comes_with_two_states_is_exchanged_once(agents: Agents, case: str) -> None:
    """A redirect says its state twice, and comes again as it should be: its code is sent once at most.

    Whether an agent takes the first redirect, where one of the two is its own, is open.
    """
    works(agents.normal())
    change = DOUBLED[case]
    what = f"a run with a redirect that has two states, {case}"
    run = ended(agents.install().launch(what, _doubling(change)))
    _taken(run.visits)

    code = run.visits[0].codes()[0]
    sent = exchanged_with(run, code)
    observe(exchanged=bool(sent), exit_code=run.exit_code)
    expect.that(
        len(sent) <= 1,
        "how often a code is sent that came twice, once with two states",
        expected="once at most",
        got=f"{len(sent)} times",
        exchange=sent[-1].exchange() if sent else None,
    )


def _is_mixed(state: str) -> bool:
    """True for letters of both cases, as base64url has them: what differs in case is another value there."""
    return state.upper() != state != state.lower()


def _doubling(change: Callable[[str], str]) -> Deliver:
    def deliver(visit: Visit, redirect: str, courier: Courier) -> None:
        state = parse_qs(urlsplit(redirect).query).get("state", [""])[0]
        bring(visit, _STATE.sub(lambda _: change(state), redirect), courier)
        bring(visit, redirect, courier)

    return deliver


def _tampering(install: Install, change: Callable[[str], str], stolen: list[str]) -> Deliver:
    desk = install.world.desk

    def deliver(visit: Visit, redirect: str, courier: Courier) -> None:
        if visit.number == 1:
            own = codes_in(redirect)[0]
            code = desk.new_code(desk.codes[own])
            stolen.append(code)
            state = parse_qs(urlsplit(redirect).query).get("state", [""])[0]
            tampered = _STATE.sub(lambda _: change(state), redirect).replace(own, code)
            bring(visit, re.sub(r"&&|&$", "", tampered), courier)
            courier.wait(_TEMPTED_S, until=lambda: code in desk.used_codes)
        bring(visit, redirect, courier)

    return deliver


def _twice(visit: Visit, redirect: str, courier: Courier) -> None:
    bring(visit, redirect, courier)
    bring(visit, redirect, courier)


def _taken(visits: tuple[Visit, ...]) -> None:
    require.that(
        bool(visits) and any(status is not None for status in visits[0].statuses[:1]),
        "the redirect",
        expected="an agent that takes it at its callback",
        got="nobody there" if visits else "no authorization",
    )
