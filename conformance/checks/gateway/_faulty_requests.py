"""Authorization requests that a gateway refuses although the agent and its redirect URI are registered."""

from __future__ import annotations

from collections.abc import Callable, Mapping

Pairs = list[tuple[str, str]]
Change = Callable[[Pairs], Pairs]


def without(name: str) -> Change:
    """The request without this parameter."""
    return lambda pairs: [pair for pair in pairs if pair[0] != name]


def with_other(name: str, value: str) -> Change:
    """The request with another value of this parameter, which is moved to the end."""
    return lambda pairs: [*without(name)(pairs), (name, value)]


REFUSED: Mapping[str, Change] = {
    "no-scope": without("scope"),
    "no-response-type": without("response_type"),
    "other-response-type": with_other("response_type", "token"),
    "no-challenge": without("code_challenge"),
    "plain-challenge": with_other("code_challenge_method", "plain"),
    "scope-of-nobody": with_other("scope", "openid gateproof:nobody"),
}
