"""Invalid certificates, shown by one party at a time."""

from __future__ import annotations

from gateproof.conformance.kit.agent.agent import (
    READS_NO_METADATA_ELSEWHERE,
    Agents,
    came_to_metadata_elsewhere,
    end_tokens,
    require_done,
    require_ended,
)
from gateproof.conformance.kit.agent.launch import Run
from gateproof.conformance.kit.agent.world import (
    CORE,
    EXPIRED,
    GATEWAY,
    GOOD,
    METADATA,
    OTHER_HOST,
    SERVICE,
    UNKNOWN_CA,
)
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import LeftOut, expect, observe, require

# An agent may verify one party less strictly than another, and each in a different way.
SHOWN = {
    f"{party}, {kind}": (party, kind)
    for kind in (UNKNOWN_CA, EXPIRED, OTHER_HOST)
    for party in (SERVICE, METADATA, GATEWAY, CORE)
}


@check("AGENT-16", cases=SHOWN)
def bad_certificate_gets_no_request(agents: Agents, case: tuple[str, str]) -> None:
    """The agent sends no request to a party with an invalid certificate."""
    party, kind = case
    require_done(agents.normal())
    install = agents.install(metadata_apart=party == METADATA, wrong={party: kind})
    if party in install.world.at_origin_of:
        raise LeftOut(f"the {party} has no certificate of its own: left out by --one-origin")
    run = require_ended(install.launch(f"a run in which the {party} shows a certificate {kind}"))
    if party == METADATA and not came_to_metadata_elsewhere(install):
        raise LeftOut(READS_NO_METADATA_ELSEWHERE)
    require.that(
        install.world.parties[party].came > 0,
        run.what,
        expected=f"a connection to the {party}",
        got="none",
    )
    _no_request_to(run, party)


@check("AGENT-16")
def bad_certificate_gets_no_request_of_a_later_run(agents: Agents) -> None:
    """An install with a client and a token sends no request to a party with an invalid certificate.

    The service's certificate is invalid while the token is valid; those of the gateway hosts after its
    expiry.
    """
    require_done(agents.normal())
    install = agents.install()
    world = install.world
    require_done(install.launch("a run that makes the agent a client and gets it a token"))
    for party in (each for each in (SERVICE, GATEWAY, CORE) if each not in world.at_origin_of):
        before = world.parties[party].came
        world.set_certificate(party, UNKNOWN_CA)
        run = require_ended(
            install.launch(f"a later run in which the {party} shows a certificate {UNKNOWN_CA}")
        )
        world.set_certificate(party, GOOD)
        came = world.parties[party].came > before
        # An agent that has cached the documents need not connect to the host that serves them.
        require.that(came or party == GATEWAY, run.what, expected=f"a connection to the {party}", got="none")
        observe(**{f"came_to_the_{party}": came})
        _no_request_to(run, party)
        end_tokens(world)


def _no_request_to(run: Run, party: str) -> None:
    asked = run.calls(party=party)
    expect.that(
        not asked,
        f"requests of {run.what}",
        expected=f"none to the {party}",
        got=f"{len(asked)}, the first for {asked[0].call.endpoint.value}" if asked else "none",
        exchange=asked[0].exchange() if asked else None,
    )
