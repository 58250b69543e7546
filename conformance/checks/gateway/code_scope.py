"""The scope of a token answer lists scopes, as OAuth writes such a list (RFC 6749 section 3.3)."""

from __future__ import annotations

from gateproof.conformance.kit.gateway.gateway import Gateway
from gateproof.conformance.kit.gateway.world import World
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import LeftOut, expect, require

# What a list of another kind leaves at its words.
_PUNCTUATION = ",;|[](){}\"'"


@check("CODE-11")
def scope_lists_scopes_that_were_asked_for(gateway: Gateway, world: World) -> None:
    """`scope` has words between blanks, and at least one of them is a scope that was asked for.

    A gateway may grant fewer scopes than were asked for, further ones, or write each with a prefix.
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
        expected=f"a list, between blanks, with some of {', '.join(asked)}",
        got=scope,
    )
    spoiled = [word for word in words if word not in asked and word.strip(_PUNCTUATION) in asked]
    expect.that(
        not spoiled,
        "scope of the exchange",
        expected="nothing but blanks between scopes",
        got=scope,
    )


def _is_one_of(asked: list[str], word: str) -> bool:
    """True for a scope that was asked for, also behind a prefix."""
    return any(word == scope or word.endswith((f"/{scope}", f":{scope}")) for scope in asked)
