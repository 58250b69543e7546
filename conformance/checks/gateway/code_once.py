"""A code that was used stays used, whoever fails with it in between."""

from __future__ import annotations

from collections.abc import Mapping

from gateproof.conformance.checks.gateway._exchanges import no_tokens
from gateproof.conformance.kit.gateway.world import World
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import require

# What is wrong with the try in between.
FAILED_TRIES: Mapping[str, Mapping[str, str | None]] = {
    "wrong-verifier": {"code_verifier": "gateproof-wrong-verifier-of-enough-characters"},
    "no-verifier": {"code_verifier": None},
    "other-redirect-uri": {"redirect_uri": "https://agent.example/another"},
    "wrong-secret": {"client_secret": "gateproof-wrong"},
}


@check("CODE-02", cases=FAILED_TRIES)
def used_code_stays_used_after_a_failed_try(world: World, case: Mapping[str, str | None]) -> None:
    """A code that was exchanged gets nothing after somebody has tried it with something wrong.

    Whoever puts a code back when a try fails has to know whether it was there to be put back.
    """
    authorization = world.new_code()
    require(world.gateway.exchange(authorization)).status(200)
    require(world.gateway.exchange(authorization, **case)).refused()

    wrong = ", ".join(case)
    no_tokens(world.gateway.exchange(authorization), f"a used code, after a try with a wrong {wrong}")
