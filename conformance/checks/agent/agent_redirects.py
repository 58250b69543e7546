"""Redirects from a hostile browser: with another state, without a state, or delivered twice."""

from __future__ import annotations

import re
import secrets
import string
from collections.abc import Callable
from dataclasses import dataclass
from urllib.parse import parse_qs, quote, urlsplit

from gateproof.conformance.kit.agent.agent import (
    Agents,
    end_tokens,
    exchanges_of_code,
    require_done,
    require_ended,
)
from gateproof.conformance.kit.agent.browser import Courier
from gateproof.conformance.kit.agent.visits import Deliver, Visit, bring, codes_in
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import LeftOut, expect, observe, require
from gateproof.fakes.gateway.agent_endpoints import AgentEndpoints

# How long to watch for a wrong exchange before the right redirect follows the tampered one.
_TEMPTED_S = 1.5
_STATE = re.compile(r"(?<=[?&])state=[^&#]*")
_CODE = re.compile(r"(?<=[?&])code=[^&#]*")
_BASE64URL = f"{string.ascii_uppercase}{string.ascii_lowercase}{string.digits}-_"
# States with a special meaning for code that looks them up or matches them: a member of every JavaScript
# object, and patterns of shells and of regular expressions that match anything.
_NAME_OF_EVERY_OBJECT, _PATTERN, _EXPRESSION = "constructor", "*", ".*"
EARLIER, FIRST = "of an earlier run", "of the first authorization of the run"
OTHER_CASE = "its own in the other case"
# Returns what the query contains instead of the state.
Change = Callable[[str], str]


@dataclass(frozen=True, kw_only=True, slots=True)
class Tampered:
    """Wrong redirects that are delivered before the right one, and at which authorization of the run.

    A `later` run belongs to an install whose tokens are no longer valid; before a second authorization the
    first code was refused. `says_issuer` adds `iss` to every redirect (RFC 9207). With `of_first`, the state
    of the run's first authorization is changed, not that of this one. `after_error` is the state of a
    redirect with an error and no code, which is delivered before all others.
    """

    redirects: tuple[Change, ...]
    number: int = 1
    later: bool = False
    says_issuer: bool = False
    of_first: bool = False
    after_error: Change | None = None


def _another_letter(state: str) -> str:
    return ("A" if state[:1] != "A" else "B") + state[1:]


def _random_like(state: str) -> str:
    return secrets.token_urlsafe(len(state) or 16)[: len(state) or 16]


def _another_last_letter(state: str) -> str:
    """The text with the highest bit of its last letter changed: base64 decoders may ignore the lower bits."""
    place = _BASE64URL.find(state[-1:] or "-")
    return state[:-1] + ("A" if place < 0 else _BASE64URL[place ^ 32])


def _another(state: str) -> str:
    return f"state={_random_like(state)}"


def _none(_state: str) -> str:
    return ""


def _as_it_was(state: str) -> str:
    return f"state={quote(state)}"


def _once(change: Change) -> Tampered:
    return Tampered(redirects=(change,))


TAMPERED: dict[str, Tampered] = {
    "another": _once(_another),
    "another first letter": _once(lambda state: f"state={quote(_another_letter(state))}"),
    "another last letter": _once(lambda state: f"state={quote(_another_last_letter(state))}"),
    "missing": _once(_none),
    "empty": _once(lambda _: "state="),
    "twice, both wrong": _once(
        lambda state: f"state={_random_like(state)}&state={quote(_another_letter(state))}"
    ),
    "cut short": _once(lambda state: f"state={quote(state[: len(state) // 2])}"),
    "its end alone": _once(lambda state: f"state={quote(state[len(state) // 2 :])}"),
    "made longer": _once(lambda state: f"state={quote(state)}{_random_like(state)}"),
    "its own and a space": _once(lambda state: f"state={quote(state)}%20"),
    "a name that every object has": _once(lambda _: f"state={_NAME_OF_EVERY_OBJECT}"),
    "a pattern that fits anything": Tampered(
        redirects=(lambda _: f"state={_PATTERN}", lambda _: f"state={_EXPRESSION}")
    ),
    OTHER_CASE: _once(lambda state: f"state={quote(state.swapcase())}"),
    "missing, beside the right iss": Tampered(redirects=(_none,), says_issuer=True),
    "another, beside the right iss": Tampered(redirects=(_another,), says_issuer=True),
    "another, and then missing": Tampered(redirects=(_another, _none)),
    "another, after a refused code": Tampered(redirects=(_another,), number=2),
    "missing, in a later run": Tampered(redirects=(_none,), later=True),
    EARLIER: Tampered(redirects=(_another,), later=True),
    FIRST: Tampered(redirects=(_as_it_was,), number=2, of_first=True),
    # The agent may end at an error or keep waiting; if it waits, it has to check the next redirect like any
    # other.
    "missing, after an error with another": Tampered(redirects=(_none,), after_error=_another),
    "another, after an error without one": Tampered(redirects=(_another,), after_error=_none),
    "missing, after an error with its own": Tampered(redirects=(_none,), after_error=_as_it_was),
}
# A repeated parameter is invalid (RFC 6749 section 3.1); which value an agent uses is not defined.
DOUBLED: dict[str, Change] = {
    "its own first": lambda state: f"state={quote(state)}&state={_random_like(state)}",
    "its own last": lambda state: f"state={_random_like(state)}&state={quote(state)}",
    "its own twice": lambda state: f"state={quote(state)}&state={quote(state)}",
}


@check("AGENT-05", cases=tuple(TAMPERED))
def code_with_a_wrong_state_is_not_exchanged(agents: Agents, case: str) -> None:
    """A good code with a state that is not the agent's own is not exchanged.

    The browser command returns after the redirect, so an agent that waits for it continues. Then the right
    redirect comes with another code: an agent may wait for it, or end with an error.
    """
    require_done(agents.normal())
    install, tampered = agents.install(), TAMPERED[case]
    if tampered.later:
        earlier = require_done(install.launch("a run that gets tokens, before they become invalid"))
        _taken(earlier.visits)
        state = earlier.visits[-1].value("state") or ""
        end_tokens(install.world)
        if case == EARLIER:
            tampered = _once(lambda _: f"state={quote(state)}")
    desk = install.world.gateway_endpoints
    desk.refusals = tampered.number - 1
    desk.extra_parameters = {"iss": desk.issuer} if tampered.says_issuer else {}
    stolen: list[str] = []
    what = f"a run with a redirect whose state is {case}"
    run = require_ended(install.launch(what, _tampering(desk, tampered, stolen)))
    if 0 < len(run.visits) < tampered.number:
        raise LeftOut("the agent does not authorize again in a run whose code was refused")
    _taken(run.visits[tampered.number - 1 :])
    if tampered.after_error is not None and not any(run.visits[0].statuses[1:2]):
        raise LeftOut("the agent ends at a redirect with an error, and takes no other")
    if case == FIRST and run.visits[0].value("state") == run.visits[1].value("state"):
        raise LeftOut("the agent's state is the same at both authorizations, which another rule judges")

    if case == OTHER_CASE and not _is_mixed(run.visits[0].value("state") or ""):
        raise LeftOut("the agent's states have letters of one case only, so their case may not matter")
    sent = [each for code in stolen for each in exchanges_of_code(run, code)]
    expect.that(
        not sent,
        "a redirect with a good code and a state that is not the agent's own",
        expected="no exchange of that code",
        got=f"{len(sent)} at the token endpoint",
        exchange=sent[0].exchange() if sent else None,
    )


@check("AGENT-10")
def code_that_comes_twice_is_exchanged_once(agents: Agents) -> None:
    """If the browser delivers the same redirect twice, the agent sends its code once."""
    require_done(agents.normal())
    run = require_ended(agents.install().launch("a run with the redirect delivered twice", _twice))
    _taken(run.visits)

    for code in (code for visit in run.visits for code in set(visit.codes())):
        sent = exchanges_of_code(run, code)
        expect.that(
            len(sent) <= 1,
            "how often a code is sent that came twice",
            expected="once",
            got=f"{len(sent)} times",
            exchange=sent[-1].exchange() if sent else None,
        )
    # An agent that has used its state may end at the second redirect, because it matches no authorization.
    observe(carried_out=run.done)


@check("AGENT-10", cases=tuple(DOUBLED))
def code_that_comes_with_two_states_is_exchanged_once(agents: Agents, case: str) -> None:
    """If a redirect has two states and then comes again correctly, its code is sent once at most.

    If one of the two states is right, the agent may accept or refuse the first redirect.
    """
    require_done(agents.normal())
    change = DOUBLED[case]
    what = f"a run with a redirect that has two states, {case}"
    run = require_ended(agents.install().launch(what, _doubling(change)))
    _taken(run.visits)

    code = run.visits[0].codes()[0]
    sent = exchanges_of_code(run, code)
    observe(exchanged=bool(sent), exit_code=run.exit_code)
    expect.that(
        len(sent) <= 1,
        "how often a code is sent that came twice, once with two states",
        expected="once at most",
        got=f"{len(sent)} times",
        exchange=sent[-1].exchange() if sent else None,
    )


def _is_mixed(state: str) -> bool:
    """True for letters of both cases, as in base64url: then a difference in case is a different value."""
    return state.upper() != state != state.lower()


def _state_in(redirect: str) -> str:
    return parse_qs(urlsplit(redirect).query).get("state", [""])[0]


def _with_state(redirect: str, said: str) -> str:
    """The redirect with this in place of its state; an empty value removes the parameter."""
    return re.sub(r"(&)&|&$", r"\1", _STATE.sub(lambda _: said, redirect))


def _refused(redirect: str) -> str:
    """The same redirect with an error in place of its code (RFC 6749 section 4.1.2.1)."""
    return _CODE.sub("error=access_denied", redirect)


def _doubling(change: Change) -> Deliver:
    def deliver(visit: Visit, redirect: str, courier: Courier) -> None:
        bring(visit, _with_state(redirect, change(_state_in(redirect))), courier)
        bring(visit, redirect, courier)

    return deliver


def _tampering(desk: AgentEndpoints, tampered: Tampered, stolen: list[str]) -> Deliver:
    first: list[str] = []

    def deliver(visit: Visit, redirect: str, courier: Courier) -> None:
        first.append(_state_in(redirect))
        if visit.number == tampered.number:
            own = codes_in(redirect)[0]
            if tampered.after_error is not None:
                bring(visit, _refused(_with_state(redirect, tampered.after_error(first[-1]))), courier)
            for change in tampered.redirects:
                stolen.append(desk.new_code(desk.codes[own]))
                said = change(first[0] if tampered.of_first else _state_in(redirect))
                tampered_with = _with_state(redirect, said).replace(own, stolen[-1])
                bring(visit, tampered_with, courier)
            courier.returns_early = True
            courier.wait(_TEMPTED_S, until=lambda: not desk.used_codes.isdisjoint(stolen))
        bring(visit, redirect, courier)

    return deliver


def _twice(visit: Visit, redirect: str, courier: Courier) -> None:
    bring(visit, redirect, courier)
    bring(visit, redirect, courier)


def _taken(visits: tuple[Visit, ...]) -> None:
    require.that(
        bool(visits) and any(status is not None for status in visits[0].statuses[:1]),
        "the redirect",
        expected="an agent that accepts it at its callback",
        got="no listener there" if visits else "no authorization",
    )
