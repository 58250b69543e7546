"""Two open codes of one agent: each is bound to its own authorization."""

from __future__ import annotations

from gateproof.conformance.checks.gateway._exchanges import (
    code_after_working_exchange,
    invalid_grant,
    require_exchange,
)
from gateproof.conformance.kit.gateway.gateway import CALLBACK
from gateproof.conformance.kit.gateway.reused_agent import reused_authorization
from gateproof.conformance.kit.gateway.world import World
from gateproof.conformance.suite.check import check

OTHER_URI = "https://agent.example/other"
# Whether the code that is sent is the newer of the two.
SENT = {"older-code": False, "newer-code": True}


@check("CODE-04", cases=SENT)
def verifier_of_another_open_code_is_refused(world: World, case: bool) -> None:
    """A code with the verifier of another open code of its agent gets invalid_grant.

    An earlier code of the agent was exchanged. A newer code may invalidate an older one.
    """
    world, older = code_after_working_exchange(world)
    newer = world.new_code(agent=older.agent)
    sent, other = (newer, older) if case else (older, newer)

    answer = world.gateway.exchange(sent, code_verifier=other.verifier.reveal())
    invalid_grant(answer, "the verifier of another code of the agent")


@check("CODE-05", cases=SENT)
def redirect_uri_of_another_open_code_is_refused(world: World, case: bool) -> None:
    """A code with the redirect URI of another open code of its agent gets invalid_grant."""
    world, _ = reused_authorization(world)
    agent = world.agents.new(CALLBACK, OTHER_URI)
    require_exchange(world, agent)
    older, newer = (world.code_for(world.attempt(agent, redirect_uri=uri)) for uri in (CALLBACK, OTHER_URI))
    sent, other = (newer, older) if case else (older, newer)

    answer = world.gateway.exchange(sent, redirect_uri=other.redirect_uri)
    invalid_grant(answer, "the redirect URI of another code of the agent")
