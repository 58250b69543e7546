"""What an agent does with the answers to its refresh requests."""

from __future__ import annotations

from gateproof.conformance.checks.agent._shared_runs import Expiry, refresh_runs, renewed_by_the_clock
from gateproof.conformance.checks.agent.agent_installs import gets_tokens, usable
from gateproof.conformance.kit.agent.agent import Agents, Install, expect_done, require_done, require_ended
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import LeftOut, expect
from gateproof.fakes.gateway.script import Answer, Endpoint

# A text that only refresh requests contain.
_OF_A_REFRESH = "grant_type=refresh_token"


@check("AGENT-09")
def refresh_that_brings_an_access_token_alone_is_enough(agents: Agents) -> None:
    """A refresh answer with only an access token is enough; the old refresh token stays valid.

    An agent that requires more (RFC 6749 section 6, OpenID Connect 12.2) can ask the user.
    """
    expiry = _refreshes_at(agents)
    install = agents.install()
    desk = install.world.gateway_endpoints
    expiry.begin(desk)
    gets_tokens(install, expiry, "a run that gets tokens")
    desk.rotates_refresh_tokens = False
    # By the clock there is one expiry: the token that replaces an expired one has the usual lifetime.
    for which in ("the access token", "the next access token")[: 1 if expiry.by_the_clock else 2]:
        expiry.end_access_tokens(desk)
        what = f"a run in which {which} has expired, and a refresh brings an access token alone"
        run = require_ended(install.launch(what))
        if len(install.runs) == 2 and not run.refreshes():
            raise LeftOut("the agent did not refresh its token")
        expect_done(run)


@check("AGENT-09")
def refresh_that_is_not_offered_leads_to_the_user(agents: Agents) -> None:
    """If a refresh is refused with any error, the agent asks the user to authorize again.

    The specification does not define that grant, and the gateway's document does not list it.
    """
    expect_done(require_ended(_refused_refresh(agents).runs[1]))


@check("AGENT-11")
def refused_refresh_makes_no_new_client(agents: Agents) -> None:
    """If a refresh is refused with unsupported_grant_type, the agent keeps its client."""
    run = require_ended(_refused_refresh(agents).runs[1])
    calls = run.calls(Endpoint.REGISTRATION)
    expect.that(
        not calls,
        f"registrations of {run.what}",
        expected="none",
        got=str(len(calls)),
        exchange=calls[0].exchange() if calls else None,
    )


def _refused_refresh(agents: Agents) -> Install:
    """A run that gets tokens, and one in which a refresh is refused because the gateway offers none."""
    expiry = _refreshes_at(agents)

    def play(install: Install) -> None:
        desk = install.world.gateway_endpoints
        expiry.begin(desk)
        listed = {"grant_types_supported": ["authorization_code"]}
        desk.script.always(Endpoint.DISCOVERY, Answer(members=listed))
        refused = Answer(status=400, members={"error": "unsupported_grant_type"}, whose=_OF_A_REFRESH)
        desk.script.always(Endpoint.TOKEN, refused)
        install.launch("a run that gets tokens, of which none can be refreshed")
        expiry.end_access_tokens(desk)
        install.launch("a run in which the access token has expired, and none can be refreshed")

    install = agents.scene("no refresh is offered", play)
    first, run = install.runs
    if expiry.by_the_clock:
        usable(first)
    else:
        require_done(first)
    if not any(each.call.status == 400 for each in require_ended(run).refreshes()):
        raise LeftOut("the agent refreshes no token where the gateway's document names no such grant")
    return install


def _refreshes_at(agents: Agents) -> Expiry:
    """What makes the agent refresh: a refused token, or its own clock; raises LeftOut if neither does.

    An agent may refresh only if the gateway's document lists the grant.
    """
    require_done(agents.normal())
    for install, expiry in (
        (refresh_runs, Expiry(by_the_clock=False)),
        (renewed_by_the_clock, Expiry(by_the_clock=True)),
    ):
        if any(run.refreshes() for run in install(agents).runs):
            return expiry
    raise LeftOut(
        "the agent refreshed no token, neither one that the service refused nor one that had expired by "
        "the clock"
    )
