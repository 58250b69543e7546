"""A used code stays used after a failed exchange."""

from __future__ import annotations

from collections.abc import Mapping

from gateproof.conformance.checks.gateway._exchanges import no_tokens
from gateproof.conformance.kit.gateway.world import World
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import require

# The wrong fields of the failed exchange.
FAILED_TRIES: Mapping[str, Mapping[str, str | None]] = {
    "wrong-verifier": {"code_verifier": "gateproof-wrong-verifier-of-enough-characters"},
    "no-verifier": {"code_verifier": None},
    "other-redirect-uri": {"redirect_uri": "https://agent.example/another"},
    "wrong-secret": {"client_secret": "gateproof-wrong"},
}


@check("CODE-02", cases=FAILED_TRIES)
def used_code_stays_used_after_a_failed_try(world: World, case: Mapping[str, str | None]) -> None:
    """A used code is still refused after an exchange of it with a wrong field has failed.

    A gateway that restores a code after a failed exchange must not restore one that was already used.
    """
    authorization = world.new_code()
    require(world.gateway.exchange(authorization)).status(200)
    require(world.gateway.exchange(authorization, **case)).refused()

    wrong = ", ".join(case)
    no_tokens(world.gateway.exchange(authorization), f"a used code, after a try with a wrong {wrong}")
