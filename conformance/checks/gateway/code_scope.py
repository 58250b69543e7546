"""`scope` of a token answer is a list of scopes, separated by spaces (RFC 6749 section 3.3)."""

from __future__ import annotations

from gateproof.conformance.kit.gateway.gateway import Gateway
from gateproof.conformance.kit.gateway.world import World
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import LeftOut, expect, require

# Characters that lists of other formats leave at the scopes.
_PUNCTUATION = ",;|[](){}\"'"


@check("CODE-11")
def scope_lists_scopes_that_were_asked_for(gateway: Gateway, world: World) -> None:
    """`scope` is a list separated by spaces that contains at least one of the requested scopes.

    A gateway may grant fewer scopes than requested, or further ones, or write each with a prefix.
    """
    attempt = world.attempt()
    if not attempt.resource.scopes:
        raise LeftOut("the Resource has no scope of its own")
    asked = attempt.parameters["scope"].split(" ")
    answer = require(gateway.exchange(world.code_for(attempt))).status(200)
    scope = expect.text(answer.member("scope"), "scope")
    words = scope.split(" ")

    expect.that(
        any(_is_one_of(asked, word) for word in words),
        "scope of the exchange",
        expected=f"a list, separated by spaces, with some of {', '.join(asked)}",
        got=scope,
    )
    spoiled = [word for word in words if word not in asked and word.strip(_PUNCTUATION) in asked]
    expect.that(
        not spoiled,
        "scope of the exchange",
        expected="nothing but spaces between scopes",
        got=scope,
    )


def _is_one_of(asked: list[str], word: str) -> bool:
    """True for a requested scope, also with a prefix."""
    return any(word == scope or word.endswith((f"/{scope}", f":{scope}")) for scope in asked)
