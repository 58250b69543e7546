"""Legal ways for an agent to decide by its own clock whether a token has expired."""

from __future__ import annotations

from collections.abc import Callable

from gateproof.reference.agent.policy import operation
from gateproof.reference.agent.policy.operation import Tokens
from gateproof.reference.agent.policy.renewal import refreshed
from gateproof.reference.defects.agent.clock import (
    AHEAD_S,
    all_with_expiry,
    is_expired,
    refreshed_by_the_clock,
    with_expiry,
)
from gateproof.reference.variants.variant import variant


def _unless(is_of_no_use: Callable[[Tokens], bool]) -> Callable[[Tokens | None], dict[str, str]]:
    """Does not send a useless token, so that the service answers with its challenge."""
    return lambda tokens: operation.bearer(None if tokens and is_of_no_use(tokens) else tokens)


def _hardly_good(tokens: Tokens) -> bool:
    return is_expired(tokens) or tokens.get("expires_in", AHEAD_S) < AHEAD_S


VARIANTS = (
    variant(
        "authorizes-ahead-of-time: the agent authorizes again when its stored token has expired by its "
        "clock, before the service refuses it",
        bearer=_unless(is_expired),
        worth_keeping=with_expiry,
    ),
    variant(
        "refreshes-ahead-of-time: the agent refreshes its stored token when it has expired by its clock, "
        "before the service refuses it",
        bearer=_unless(is_expired),
        worth_keeping=all_with_expiry,
        renewed=refreshed,
    ),
    variant(
        "refreshes-by-its-clock-alone: the agent refreshes its stored token only when it has expired by its "
        "clock; when it is refused, the user has to authorize again",
        bearer=_unless(is_expired),
        worth_keeping=all_with_expiry,
        renewed=refreshed_by_the_clock,
    ),
    variant(
        "takes-no-short-lived-token: the agent does not send a stored token whose lifetime is less than a "
        "minute",
        bearer=_unless(_hardly_good),
        worth_keeping=with_expiry,
    ),
)
