"""A form of one Resource that is sent to the address of another."""

from __future__ import annotations

from gateproof.conformance.checks.gateway._tokens import audiences_of_code
from gateproof.conformance.checks.gateway._visits import was_answered
from gateproof.conformance.kit.gateway.codes import require_code
from gateproof.conformance.kit.gateway.gateway import BeyondReach
from gateproof.conformance.kit.gateway.several_merchants import MerchantAccount, merchant_account, merchants
from gateproof.conformance.kit.gateway.world import World
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import LeftOut, expect


@check("AUTHZ-22", needs=["sign-in:browser"])
def form_of_one_merchants_resource_approves_nothing_at_another(world: World) -> None:
    """The last form of a sign-in at one merchant gives no token for a Resource of another merchant.

    It is sent to the same address with the other Resource's ID in place of its own. Both merchants know a
    user of the same login; unchanged, the form gives a code.
    """
    with merchants(world, 2) as sites:
        login = f"{world.unique()}@merchant.example"
        one, other = (
            merchant_account(world, site, login=login, client_id=f"gateway-{world.unique()}")
            for site in sites
        )
        _, acts = (_acts(world, account) for account in (one, other))
        attempt = world.attempt(resource=other.alone.resource, user=other.alone.user)
        url = world.gateway.authorization_url(attempt)
        changes = {other.alone.resource.id: one.alone.resource.id}
        try:
            visit = world.gateway.browser().submit_changed(acts, url, attempt.user, changes, in_address=True)
        except BeyondReach as end:
            visit = end.visit
        if visit is None:
            raise LeftOut("the second authorization of this user has fewer forms than the first")
        world.gateway.record_secrets(visit)
        was_answered(visit, "the form at another address")

        indicator = one.alone.resource.indicator
        audiences = [audiences_of_code(world, attempt, code) for code in visit.codes()]
        expect.that(
            not any(indicator in named for named in audiences),
            "form of a sign-in at one merchant, sent to the address of another merchant's Resource",
            expected="no token for the other Resource",
            got="a token for it",
        )


def _acts(world: World, account: MerchantAccount) -> int:
    """How many forms a new user sends at this Resource until there is a code."""
    attempt = world.attempt(resource=account.alone.resource, user=account.alone.user)
    visit = world.gateway.visit(attempt, wherever=True)
    require_code(world.gateway, visit)
    return visit.acts or 0
