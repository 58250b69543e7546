"""A used code stays used in every spelling."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from gateproof.conformance.checks.gateway._exchanges import code_after_working_exchange, no_tokens
from gateproof.conformance.kit.gateway.world import World
from gateproof.conformance.kit.inputs.respellings import (
    in_swapped_case,
    in_the_spare_bits,
    padded,
    with_a_space,
)
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import LeftOut, require

SPELLINGS: Mapping[str, Callable[[str], str | None]] = {
    "padded": padded,
    "space-behind": with_a_space,
    "spare-bits": in_the_spare_bits,
    "swapped-case": in_swapped_case,
}


@check("CODE-02", cases=SPELLINGS)
def used_code_gets_no_tokens_in_another_spelling(world: World, case: Callable[[str], str | None]) -> None:
    """A used code gets no tokens if it is sent in another spelling.

    The gateway may treat it as unknown or as used, so the error may be any.
    """
    world, authorization = code_after_working_exchange(world)
    respelled = case(authorization.code.reveal())
    if respelled is None:
        raise LeftOut("a code of this gateway has no such spelling")
    require(world.gateway.exchange(authorization)).status(200)

    again = world.gateway.keyring.secret("code", respelled)
    no_tokens(world.gateway.exchange(authorization, code=again.reveal()), "a used code in another spelling")
