"""The scope of an authorization request after a token answer that named fewer scopes."""

from __future__ import annotations

from gateproof.conformance.checks.agent._messages import asks_for_scopes, authorizations
from gateproof.conformance.kit.agent.agent import Agents, end_tokens, require_all_in_time, require_done
from gateproof.conformance.kit.agent.launch import Run
from gateproof.conformance.kit.agent.world import SCOPES
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import LeftOut, require
from gateproof.fakes.gateway.script import Answer, Endpoint

# A text that only exchanges of a code contain.
_OF_A_CODE = "grant_type=authorization_code"


@check("AGENT-03")
def granted_scope_does_not_replace_the_requested_one(agents: Agents) -> None:
    """If the token answer's `scope` names only scopes of the Resource, a later request still has `openid`.

    The answer names those that the agent requested. In the next run no token is valid, and none can be
    refreshed. An agent may refuse the answer.
    """
    granted = _granted(require_done(agents.normal()))
    install = agents.install()
    less = Answer(members={"scope": granted}, whose=_OF_A_CODE)
    install.world.gateway_endpoints.script.always(Endpoint.TOKEN, less)
    first = install.launch("a run whose token answer names no scope but the Resource's")
    require_all_in_time([first])
    if not first.done:
        raise LeftOut("the agent does not use a token whose answer names fewer scopes than it requested")
    end_tokens(install.world)
    run = install.launch("a run after the end of tokens whose answer named no scope but the Resource's")
    require_all_in_time([run])
    if not run.visits:
        raise LeftOut("the agent makes no authorization in the run after the tokens have ended")

    asks_for_scopes(authorizations([run]))


def _granted(normal: Run) -> str:
    """The scopes of the Resource that the agent requests, without `openid`; it has to request both."""
    asked = (normal.visits[-1].value("scope") or "").split() if normal.visits else []
    granted = [scope for scope in asked if scope in SCOPES]
    require.that(
        "openid" in asked and bool(granted),
        normal.what,
        expected="an authorization that requests openid and a scope of the Resource",
        got=" ".join(asked) or "none",
    )
    return " ".join(granted)
