"""A Resource with so many scopes that their list is longer than a short column of a database."""

from __future__ import annotations

import secrets
from collections.abc import Collection

from gateproof.conformance.checks.gateway._extra_fields import GRANTS
from gateproof.conformance.checks.gateway._refreshed_tokens import refresh_or_leave_out
from gateproof.conformance.checks.gateway._scopes import scopes_in
from gateproof.conformance.kit.gateway.world import World
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import LeftOut, expect, values_of_choice
from gateproof.conformance.suite.parties import Grant, Resource
from gateproof.conformance.wire.exchange import Exchange

# Lists of 128, 255, 256, 500, 512 or 700 characters end within a scope.
SCOPES, OCTETS = 24, 15


@check("AUTHZ-18", needs=["control:create_resource"], cases=GRANTS)
def scopes_of_a_long_list_are_not_cut(world: World, case: str) -> None:
    """Of 24 requested scopes of the Resource, none is granted without its end: the Resource lacks that one.

    A gateway may grant fewer scopes, or others. In the positive twin the Resource has one such scope.
    """
    names = tuple(f"g{secrets.token_hex(OCTETS)}" for _ in range(SCOPES))
    world.show(*names)
    few, many = (_resource(world, scopes) for scopes in (names[:1], names))
    with values_of_choice():
        _none_is_cut(_granted(world, world.grant(resource=few), case), few.scopes)
    attempt = world.attempt(resource=many)
    visit = world.gateway.visit(attempt)
    if not visit.codes():
        raise LeftOut(f"the gateway gives no code for {SCOPES} scopes")
    with values_of_choice():
        grant = world.grant_of(world.authorization_of(attempt, visit.codes()[0]), attempt)
        answer = _granted(world, grant, case)

    _none_is_cut(answer, many.scopes)


def _resource(world: World, scopes: tuple[str, ...]) -> Resource:
    indicator = f"https://api.merchant.example/v3/{world.unique()}"
    return world.projects.resource(indicator=indicator, scopes=scopes)


def _granted(world: World, grant: Grant, case: str) -> Exchange:
    """The answer to the exchange, or to a refresh after it."""
    if case == "exchange":
        return grant.answer
    return refresh_or_leave_out(world, grant, "the gateway does not refresh grants with such scopes").answer


def _none_is_cut(answer: Exchange, names: Collection[str]) -> None:
    cut = [
        word
        for word in scopes_in(answer)
        if word not in names and any(name.startswith(word) for name in names)
    ]
    expect.that(
        not cut,
        f"scopes granted of a list of {len(names)}",
        expected="whole ones only",
        got=f"the beginning of one: {', '.join(cut)}",
        exchange=answer,
    )
