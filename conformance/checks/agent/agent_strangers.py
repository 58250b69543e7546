"""Addresses that nobody named, or that are not protected: what an agent brings there."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from conformance.agent import Agents, Install, end_tokens, ended, s256, works
from conformance.check import check
from conformance.claims import expect, require
from conformance.run.agent_launch import Run
from conformance.run.agent_output import printed
from conformance.run.agent_world import CLEAR, CORE, GATEWAY, SECOND, SECOND_CORE, THIEF, Heard
from fakes.gateway.desk import Desk, fields
from fakes.gateway.script import Answer, Endpoint
from fakes.orders_service import WELL_KNOWN


@dataclass(frozen=True, kw_only=True, slots=True)
class Lure:
    """What is put in the agent's way, who waits at its end, and the request that shows that it came by."""

    set_up: Callable[[Install], None]
    waits: str
    passes: Callable[[Run], bool]


def _token_endpoint_redirects(install: Install) -> None:
    world = install.world
    away = Answer(status=307, headers={"location": world.thief.site.token_endpoint})
    world.desk.script.always(Endpoint.TOKEN, away)


def _service_redirects(install: Install) -> None:
    install.world.service.sends_to = f"{install.world.url(THIEF)}/orders"


def _token_endpoint_in_the_clear(install: Install) -> None:
    world = install.world
    endpoint = f"{world.url(CLEAR)}{world.desk.site.token_path}"
    world.desk.script.always(Endpoint.DISCOVERY, Answer(members={"token_endpoint": endpoint}))


def _metadata_of_another_resource(install: Install) -> None:
    """The client that is known to the honest gateway is offered to one of another resource's."""
    works(install.launch())
    end_tokens(install.world)
    install.world.service.pointer = f"{install.world.url(THIEF)}{WELL_KNOWN}"


def _redirect_names_another(install: Install) -> None:
    thief = install.world.thief
    install.world.desk.beside_code = {
        "iss": thief.site.authorization_server,
        "token_endpoint": thief.site.token_endpoint,
    }


def _exchanged(run: Run) -> bool:
    return bool(run.calls(Endpoint.TOKEN, party=CORE))


def _redirected(run: Run) -> bool:
    return any(status is not None for visit in run.visits for status in visit.statuses)


LURES = {
    "the token endpoint redirects": Lure(set_up=_token_endpoint_redirects, waits=THIEF, passes=_exchanged),
    "the service redirects": Lure(
        set_up=_service_redirects,
        waits=THIEF,
        passes=lambda run: any(each.call.status == 307 for each in run.calls(Endpoint.OPERATION)),
    ),
    "the token endpoint is plain HTTP": Lure(
        set_up=_token_endpoint_in_the_clear,
        waits=CLEAR,
        passes=lambda run: bool(run.calls(Endpoint.DISCOVERY)),
    ),
    "the metadata are another resource's": Lure(
        set_up=_metadata_of_another_resource,
        waits=THIEF,
        passes=lambda run: bool(run.calls(Endpoint.METADATA, party=THIEF)),
    ),
    "the redirect names another gateway": Lure(
        set_up=_redirect_names_another, waits=THIEF, passes=_redirected
    ),
}


@check("AGENT-13", cases=tuple(LURES))
def credentials_do_not_go_where_nobody_sent_them(agents: Agents, case: str) -> None:
    """What the honest gateway gave out, and codes and verifiers for it, are not brought to a stranger."""
    lure = LURES[case]
    works(agents.normal())
    install = agents.install()
    lure.set_up(install)
    run = ended(install.launch(), f"a run in which {case}")
    require.that(
        lure.passes(run), f"a run in which {case}", expected="an agent that comes by", got="none that does"
    )

    _nothing_of(install.world.desk, run, (lure.waits,))


@check("AGENT-13")
def two_gateways_are_kept_apart(agents: Agents) -> None:
    """Metadata that name two gateways: what belongs to one of them goes to that one alone."""
    works(agents.normal())
    install = agents.install()
    world = install.world
    second = world.add_second_gateway()
    world.service.servers.append(second.site.authorization_server)
    run = ended(install.launch(), "a run with two gateways to choose from")
    require.that(bool(run.calls(Endpoint.TOKEN)), "the run", expected="an exchange of a code", got="none")

    _nothing_of(world.desk, run, (SECOND, SECOND_CORE))
    _nothing_of(second, run, (GATEWAY, CORE))


def _nothing_of(desk: Desk, run: Run, parties: Iterable[str]) -> None:
    """No secret that this gateway gave out, and no proof for one of its codes, is at one of these parties."""
    secrets = desk.secrets()
    codes = {code for visit in run.visits for code in visit.codes()} & set(desk.codes)
    challenges = {visit.value("code_challenge") for visit in run.visits if codes.intersection(visit.codes())}
    for each in (each for party in parties for each in run.calls(party=party)):
        found = printed(each.call.text().encode(), secrets)
        expect.that(
            not found and not _proves(each, challenges),
            f"a request to {_named(each.party)}",
            expected="nothing that belongs to another party",
            got=", ".join(dict.fromkeys(item.said() for item in found)) or "the code verifier",
            exchange=each.exchange(),
        )
    expect.that(True, "requests to strangers", expected="none with a credential", got="none")


def _proves(each: Heard, challenges: set[str | None]) -> bool:
    verifier = fields(each.call).get("code_verifier", "")
    return bool(verifier) and s256(verifier) in challenges


def _named(party: str) -> str:
    return {THIEF: "a host that nobody named", CLEAR: "an address in plain HTTP"}.get(party, f"the {party}")
