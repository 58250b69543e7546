"""Legal ways for an agent to go by its own clock where a token is concerned."""

from __future__ import annotations

from collections.abc import Callable

from gateproof.reference.agent.policy import operation
from gateproof.reference.agent.policy.operation import Tokens
from gateproof.reference.agent.policy.renewal import refreshed
from gateproof.reference.defects.agent.clock import (
    AHEAD_S,
    all_and_its_end,
    is_over,
    refreshed_by_the_clock,
    with_its_end,
)
from gateproof.reference.variants.variant import variant


def _unless(is_of_no_use: Callable[[Tokens], bool]) -> Callable[[Tokens | None], dict[str, str]]:
    """A token that is of no use is left at home; the service answers with its challenge."""
    return lambda tokens: operation.bearer(None if tokens and is_of_no_use(tokens) else tokens)


def _hardly_good(tokens: Tokens) -> bool:
    return is_over(tokens) or tokens.get("expires_in", AHEAD_S) < AHEAD_S


VARIANTS = (
    variant(
        "authorizes-ahead-of-time: a kept token that has expired is replaced before anybody refuses it",
        bearer=_unless(is_over),
        worth_keeping=with_its_end,
    ),
    variant(
        "refreshes-ahead-of-time: the same, with the refresh token first",
        bearer=_unless(is_over),
        worth_keeping=all_and_its_end,
        renewed=refreshed,
    ),
    variant(
        "refreshes-by-its-clock-alone: a kept token that has expired is refreshed; a refused one "
        "sends the user to authorize again",
        bearer=_unless(is_over),
        worth_keeping=all_and_its_end,
        renewed=refreshed_by_the_clock,
    ),
    variant(
        "takes-no-short-lived-token: a token that is good for less than a minute is of no use to it",
        bearer=_unless(_hardly_good),
        worth_keeping=with_its_end,
    ),
)
