"""Certificates that are not to be trusted, shown by one party at a time."""

from __future__ import annotations

from conformance.agent import Agents, ended, works
from conformance.check import check
from conformance.claims import expect, require
from conformance.run.agent_world import CORE, GATEWAY, METADATA, SERVICE
from conformance.run.prepare_agent import ELSEWHERE, EXPIRED, STRANGER

# An agent may look at one party less closely than at another, and at each in another way.
SHOWN = {
    f"{party}, {kind}": (party, kind)
    for kind in (STRANGER, EXPIRED, ELSEWHERE)
    for party in (SERVICE, METADATA, GATEWAY, CORE)
}


@check("AGENT-16", cases=SHOWN)
def bad_certificate_gets_no_request(agents: Agents, case: tuple[str, str]) -> None:
    """Behind a certificate that cannot be trusted nobody is asked anything."""
    party, kind = case
    works(agents.normal())
    install = agents.install(metadata_apart=party == METADATA, wrong={party: kind})
    run = ended(install.launch(f"a run in which the {party} shows a certificate {kind}"))
    require.that(
        install.world.parties[party].came > 0,
        "the run",
        expected=f"a connection to the {party}",
        got="none",
    )
    asked = run.calls(party=party)

    expect.that(
        not asked,
        f"the {party} behind a certificate {kind}",
        expected="no request",
        got=f"{len(asked)}, the first for {asked[0].call.endpoint.value}" if asked else "none",
        exchange=asked[0].exchange() if asked else None,
    )
