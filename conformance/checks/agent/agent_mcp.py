"""What only an MCP client does with the access token: links in results, and the stream by GET."""

from __future__ import annotations

from collections.abc import Mapping

from gateproof.conformance.checks.agent._mcp_clients import NO_MCP, is_mcp
from gateproof.conformance.checks.agent._other_parties import came_to_the_service, token_goes_nowhere_else
from gateproof.conformance.kit.agent.agent import Agents, require_all_in_time, require_done
from gateproof.conformance.kit.agent.launch import MOST_AUTHORIZATIONS, Run
from gateproof.conformance.kit.agent.world import ATTACKER, GATEWAY, SERVICE, ReceivedRequest
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import LeftOut, expect, observe
from gateproof.fakes.gateway.gateway import Replied
from gateproof.fakes.gateway.script import Endpoint
from gateproof.fakes.orders_service import QUOTED

_NO_STREAM = "the agent does not open the stream of an MCP service with its token"
# Where the service redirects the GET of an MCP stream: the status, and the party.
STREAM_REDIRECTS: Mapping[str, tuple[int, str]] = {
    "302 to another host": (302, ATTACKER),
    "307 to another host": (307, ATTACKER),
    "302 to another port": (302, GATEWAY),
    "307 to another port": (307, GATEWAY),
}


@check("AGENT-18")
def links_in_mcp_answers_get_no_token(agents: Agents) -> None:
    """A website, icons and a resource at another host, which MCP answers name, are read without the token.

    An agent may reject such answers.
    """
    if not is_mcp(require_done(agents.normal())):
        raise LeftOut(NO_MCP)
    install = agents.install()
    service = install.world.service
    service.links_to = install.world.url(ATTACKER)
    run = install.launch("a run whose MCP answers link to another host")
    came_to_the_service(install, run)
    if not service.sent_links:
        raise LeftOut("the agent uses a revision of MCP without links")

    observe(reads_a_link=bool(run.calls(party=ATTACKER)))
    token_goes_nowhere_else(install, run)
    require_all_in_time([run])
    if not run.done:
        raise LeftOut("the agent reads no orders from answers with links")


@check("AGENT-18", cases=tuple(STREAM_REDIRECTS))
def redirect_of_the_mcp_stream_takes_no_token_elsewhere(agents: Agents, case: str) -> None:
    """An agent that follows a redirect of its MCP stream to another origin does not send the token there."""
    status, party = STREAM_REDIRECTS[case]
    if not _streams(require_done(agents.normal())):
        raise LeftOut(_NO_STREAM)
    install = agents.install()
    to = f"{install.world.url(party)}/mcp"
    install.world.service.stream_answer = Replied(status=status, page="", headers={"location": to})
    run = install.launch(f"a run whose MCP stream is answered with {case}")
    if not any(each.call.status == status for each in _streams(run)):
        raise LeftOut(_NO_STREAM)

    token_goes_nowhere_else(install, run)
    require_all_in_time([run])


@check("AGENT-15")
def refused_mcp_stream_leads_to_no_authorizations_without_end(agents: Agents) -> None:
    """If only the MCP stream answers a good token with 401, the agent authorizes a few times at most.

    It may carry out the operation without the stream, or end with an error.
    """
    if not _streams(require_done(agents.normal())):
        raise LeftOut(_NO_STREAM)
    install = agents.install()
    service = install.world.service
    challenge = QUOTED.format(pointer=f"{service.url}{service.metadata_path}")
    service.stream_answer = Replied(
        status=401,
        document={"error": "unauthorized"},
        headers={"www-authenticate": f'{challenge}, error="invalid_token"'},
    )
    run = install.launch("a run whose MCP stream is refused")
    require_all_in_time([run])
    if not any(each.call.status == 401 for each in _streams(run)):
        raise LeftOut(_NO_STREAM)

    observe(authorizations=run.authorizations(), carried_out=run.done)
    expect.that(
        run.authorizations() < MOST_AUTHORIZATIONS,
        f"authorizations of {run.what}",
        expected=f"fewer than {MOST_AUTHORIZATIONS}",
        got=f"{run.authorizations()}, {run.ended.value}",
        exchange=run.last(),
    )


def _streams(run: Run) -> list[ReceivedRequest]:
    """The requests for an MCP stream with a token."""
    return [
        each
        for each in run.calls(Endpoint.OPERATION, party=SERVICE)
        if each.call.method == "GET" and each.call.target.partition("?")[0].endswith("/mcp")
        if each.call.header("authorization") is not None
    ]
