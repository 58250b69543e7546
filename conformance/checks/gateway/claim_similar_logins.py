"""The `sub` of two users with nearly the same login."""

from __future__ import annotations

from gateproof.conformance.checks.gateway._similar_users import grants_of_similar_users
from gateproof.conformance.checks.gateway._tokens import claims_of
from gateproof.conformance.kit.gateway.world import World
from gateproof.conformance.kit.inputs.similar_logins import ALIKE
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import expect, require


@check("CLAIM-03", needs=["merchant"], cases=ALIKE)
def sub_differs_between_similar_logins(world: World, case: tuple[str, str]) -> None:
    """Users whose logins differ in case, a space, a part or a Unicode form do not share a `sub`."""
    first, second = (claims_of(world, grant).get("sub") for grant in grants_of_similar_users(world, case))
    require.text(first, "sub")

    expect.that(first != second, "sub of the second user", expected="another than the first's", got=second)
