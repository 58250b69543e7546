"""The access token is for the service's origin only: other places to which an agent might send it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

from gateproof.conformance.checks.agent._other_parties import (
    came_to_the_service,
    carries_a_token,
    token_goes_nowhere_else,
)
from gateproof.conformance.checks.agent._shared_runs import FAILED_TOKEN_CALLS, failed_token_runs
from gateproof.conformance.kit.agent.agent import (
    Agents,
    Install,
    end_tokens,
    leave_out_without_metadata_elsewhere,
    require_all_in_time,
    require_done,
    require_ended,
)
from gateproof.conformance.kit.agent.launch import Run
from gateproof.conformance.kit.agent.world import ATTACKER, GATEWAY, PLAIN_HTTP, SERVICE
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import LeftOut, observe, require
from gateproof.fakes.gateway.script import Answer, Endpoint
from gateproof.fakes.orders_service import QUOTED


@dataclass(frozen=True, kw_only=True, slots=True)
class Redirect:
    """Where the service redirects a call that it accepts, and with which status.

    In a `later` run the call has a kept token. With `by_itself`, the service first redirects to another path
    of its own. If it `goes_on`, the other host redirects to another path there.
    """

    status: int
    to: Callable[[Install], str]
    later: bool = False
    by_itself: bool = False
    goes_on: bool = False


def _another_host(install: Install) -> str:
    return f"{install.world.url(ATTACKER)}/orders"


def _another_port(install: Install) -> str:
    """The same host with another port, where another party listens."""
    return f"{install.world.url(GATEWAY)}/orders"


def _plain_http(install: Install) -> str:
    return f"{install.world.url(PLAIN_HTTP)}/orders"


def _without_a_scheme(install: Install) -> str:
    """A reference without a scheme: it starts with a slash, like a path, but names another host."""
    return _another_host(install).removeprefix("https:")


def _begins_alike(install: Install) -> str:
    """A URL with the service's origin as user info, followed by the real host."""
    return f"{install.world.service.url}@{urlsplit(_another_host(install)).netloc}/orders"


REDIRECTS: Mapping[str, Redirect] = {
    **{f"{status} to another host": Redirect(status=status, to=_another_host) for status in (301, 302, 303)},
    **{f"{status} to another host": Redirect(status=status, to=_another_host) for status in (307, 308)},
    "302 to another port": Redirect(status=302, to=_another_port),
    "307 to another port": Redirect(status=307, to=_another_port),
    "307 to plain HTTP": Redirect(status=307, to=_plain_http),
    "302 without a scheme": Redirect(status=302, to=_without_a_scheme),
    "307 to an address that begins alike": Redirect(status=307, to=_begins_alike),
    "307 by way of the service": Redirect(status=307, to=_another_host, by_itself=True),
    "302 to another host, and on from there": Redirect(status=302, to=_another_host, goes_on=True),
    "307 to another host, and on from there": Redirect(status=307, to=_another_host, goes_on=True),
    "302 to another host, in a later run": Redirect(status=302, to=_another_host, later=True),
    "307 to another host, in a later run": Redirect(status=307, to=_another_host, later=True),
}
# Where the service redirects calls without a token, and with which status.
WITHOUT_A_TOKEN: Mapping[str, int] = {f"{status} to another host": status for status in (302, 307)}


@check("AGENT-18")
def access_token_goes_to_the_service_alone(agents: Agents) -> None:
    """In the normal runs, also after a kept token has expired, only the service gets the access token."""
    require_done(agents.normal())
    came_to_the_service(agents.shared(), agents.normal())

    for run in agents.runs():
        token_goes_nowhere_else(agents.shared(), run)


@check("AGENT-18", cases=tuple(REDIRECTS))
def redirect_of_the_service_takes_no_token_elsewhere(agents: Agents, case: str) -> None:
    """An agent that follows a redirect of the service to another origin does not send the token there."""
    require_done(agents.normal())
    install, redirect = agents.install(), REDIRECTS[case]
    if redirect.later:
        require_done(install.launch("a run that gets a token"))
    service, to = install.world.service, redirect.to(install)
    service.redirect_status, service.redirects_to = redirect.status, to
    if redirect.by_itself:
        service.redirects_to = f"{service.url}/moved"
        onwards = Answer(status=redirect.status, headers={"location": to})
        service.script.always(Endpoint.ELSEWHERE, onwards)
    if redirect.goes_on:
        further = Answer(status=redirect.status, headers={"location": f"{to}/further"})
        install.world.attacker.script.always(Endpoint.OPERATION, further)
    run = require_ended(install.launch(f"a run whose calls are answered with {case}"))
    sent_on = [each for each in run.calls(party=SERVICE) if each.call.status == redirect.status]
    require.that(bool(sent_on), run.what, expected="a call that is redirected", got="none")

    token_goes_nowhere_else(install, run)


@check("AGENT-18")
def next_page_elsewhere_gets_no_token(agents: Agents) -> None:
    """If the orders name a next page at another host, the agent does not send the token there."""
    require_done(agents.normal())
    install = agents.install()
    page = f"{_another_host(install)}?page=2"
    service = install.world.service
    service.beside_the_orders = {"next": page, "links": {"next": page}}
    service.script.always(Endpoint.OPERATION, Answer(headers={"link": f'<{page}>; rel="next"'}))
    run = require_ended(install.launch("a run whose orders name a next page at another host"))
    came_to_the_service(install, run)

    observe(asks_for_the_next_page=bool(run.calls(party=ATTACKER)))
    token_goes_nowhere_else(install, run)
    if not run.done:
        raise LeftOut("the agent reads no orders that name a next page")


@check("AGENT-18", cases=tuple(WITHOUT_A_TOKEN))
def redirect_before_the_token_takes_none_elsewhere(agents: Agents, case: str) -> None:
    """If the service redirects a call without a token to another host, no token is sent to that host later.

    That host answers with the challenge of the service, so the agent can get a token for the service. An
    agent may end at such a redirect. The case is left out if it also ends at one to another path of the
    service: then it sends no token anywhere.
    """
    require_done(agents.normal())
    install, status = agents.install(), WITHOUT_A_TOKEN[case]
    pointer = f"{install.world.service.url}{install.world.service.metadata_path}"
    challenge = Answer(status=401, headers={"www-authenticate": QUOTED.format(pointer=pointer)})
    install.world.attacker.script.always(Endpoint.OPERATION, challenge)
    run = _redirected_without_a_token(install, status, _another_host(install), case)

    token_goes_nowhere_else(install, run)
    sends_one = _sends_a_token(install, run)
    observe(sends_a_token=sends_one)
    if not sends_one:
        home = agents.install()
        moved = f"{home.world.service.url}/moved"
        within = _redirected_without_a_token(home, status, moved, f"{status} to another path of the service")
        if not _sends_a_token(home, within):
            raise LeftOut("the agent gets no token where the service redirects a call without one")


@check("AGENT-18")
def metadata_on_another_host_are_read_without_the_token(agents: Agents) -> None:
    """The agent fetches metadata from another host without a token that it has kept."""
    require_done(agents.normal())
    install = agents.install(metadata_apart=True)
    first = require_ended(install.launch("a run with metadata on another host"))
    leave_out_without_metadata_elsewhere(install, first)
    require_done(first)
    end_tokens(install.world)
    run = require_ended(install.launch("a run after the tokens have expired, with metadata on another host"))
    came_to_the_service(install, install.runs[0])

    for each in (install.runs[0], run):
        token_goes_nowhere_else(install, each)


@check("AGENT-18")
def access_token_does_not_go_where_the_metadata_say(agents: Agents) -> None:
    """If the service's own metadata name a `resource` on another host, the token does not go there.

    An agent may refuse such metadata.
    """
    require_done(agents.normal())
    install = agents.install()
    world = install.world
    world.service.script.always(Endpoint.METADATA, Answer(members={"resource": world.url(ATTACKER)}))
    run = require_ended(install.launch("a run whose metadata name another resource"))
    if not any(carries_a_token(install, each.call.text()) for each in run.calls(Endpoint.OPERATION)):
        raise LeftOut("the agent does not use metadata that name another resource")

    token_goes_nowhere_else(install, run)


@check("AGENT-18")
def token_of_one_gateway_is_not_shown_to_the_next(agents: Agents) -> None:
    """If the service has moved to another gateway, the agent does not send the kept token to that gateway."""
    require_done(agents.normal())
    install = agents.install()
    second = install.world.add_second_gateway()
    first = require_done(install.launch("a run that gets a token at the first gateway"))
    came_to_the_service(install, first)
    end_tokens(install.world)
    install.world.service.servers[:] = [second.site.authorization_server]
    run = require_ended(install.launch("a run after the service has moved to another gateway"))

    token_goes_nowhere_else(install, run)


@check("AGENT-18", needs=["faults"], cases=tuple(FAILED_TOKEN_CALLS))
def token_that_does_not_help_goes_nowhere_else(agents: Agents, case: str) -> None:
    """After a call with a token was refused or failed, the agent sends the token to no other party."""
    require_done(agents.normal())
    install, runs = failed_token_runs(agents, case)

    for run in runs:
        token_goes_nowhere_else(install, run)
    require_all_in_time(install.runs)


def _redirected_without_a_token(install: Install, status: int, to: str, where: str) -> Run:
    """A run in which calls without a token are redirected; raises LeftOut if the agent makes none."""
    service = install.world.service
    service.redirect_status, service.redirects_without_token_to = status, to
    run = install.launch(f"a run whose calls without a token are answered with {where}")
    require_all_in_time([run])
    if not any(each.call.status == status for each in run.calls(Endpoint.OPERATION, party=SERVICE)):
        raise LeftOut("the agent makes no call without a token")
    return run


def _sends_a_token(install: Install, run: Run) -> bool:
    return any(carries_a_token(install, each.call.text()) for each in run.calls())
