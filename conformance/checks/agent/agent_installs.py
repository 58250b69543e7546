"""What an install keeps from run to run, and what it does when its token has expired."""

from __future__ import annotations

from conformance.agent import Agents, carried_out, ended, works
from conformance.check import check
from conformance.claims import LeftOut, expect, observe, require
from conformance.run.agent_launch import Run
from fakes.gateway.script import Endpoint


@check("AGENT-11")
def one_install_registers_once(agents: Agents) -> None:
    """The second run and the third use the client of the first, whether they have to authorize or not."""
    first = works(agents.normal())
    count = len(first.calls(Endpoint.REGISTRATION))
    expect.equal(count, 1, "registrations of the first run")
    for number in (2, 3):
        what = f"run {number} of an install"
        run = ended(agents.story(number), what)
        expect.equal(len(run.calls(Endpoint.REGISTRATION)), 0, f"registrations of {what}")
        carried_out(run, what)
    expect.that(
        _clients(agents.story(3)) <= _clients(first),
        "client_id of an authorization in run 3",
        expected="the one that was registered in run 1",
        got="another one",
    )


@check("AGENT-09")
def run_after_the_end_of_tokens_works(agents: Agents) -> None:
    """A token that was good in the run before is answered with the challenge, and the agent gets another."""
    works(agents.normal())
    works(agents.story(2))
    run = ended(agents.story(3), "a run after the tokens have expired")
    old = agents.shared().world.desk.access_tokens

    observe(
        presented=any(
            each.call.header("authorization") in {f"Bearer {token}" for token in old}
            and each.call.status == 401
            for each in run.calls(Endpoint.OPERATION)
        )
    )
    carried_out(run, "a run after the tokens have expired")


@check("AGENT-09")
def token_that_expires_between_two_calls_is_replaced(agents: Agents) -> None:
    """An agent that makes several calls goes on with a new token when one is refused in their midst."""
    normal = works(agents.normal())
    if not any(each.call.target.startswith("/mcp") for each in normal.calls(Endpoint.OPERATION)):
        raise LeftOut("the agent makes one call with its token, so no token expires between two")
    install = agents.install()
    install.world.service.refuses_next = 1
    run = ended(install.launch(), "a run in which a token expires")
    require.that(
        install.world.service.refuses_next == 0, "the run", expected="a tool call with a token", got="none"
    )

    carried_out(run, "a run in which a token expires between two calls")


def _clients(run: Run) -> set[str | None]:
    return {visit.value("client_id") for visit in run.visits}
