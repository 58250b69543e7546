"""A refresh after a request for more scopes that the user did not approve."""

from __future__ import annotations

from dataclasses import replace

from gateproof.conformance.checks.gateway._refreshed_tokens import refresh_or_leave_out
from gateproof.conformance.checks.gateway._scopes import scopes_in
from gateproof.conformance.checks.gateway._visits import in_browser
from gateproof.conformance.checks.gateway.code_refresh import two_scopes, with_one_scope
from gateproof.conformance.kit.gateway.gateway import Gateway
from gateproof.conformance.kit.gateway.world import World
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import LeftOut, expect

DECLINED, LEFT_OPEN = "declined", "left-open"


@check("CODE-16", needs=["sign-in:browser"], cases=(DECLINED, LEFT_OPEN))
def refresh_brings_no_scope_of_an_unapproved_request(gateway: Gateway, world: World, case: str) -> None:
    """After a request for a further scope that was declined or left open, a refresh does not bring it.

    The grant was refreshed before. A later request may also end it.
    """
    browser = gateway.browser()
    world = in_browser(world, browser)
    resource = two_scopes(world)
    asked, other = resource.scopes[:2]
    first = with_one_scope(world, resource, asked)
    granted = scopes_in(first.answer)
    if other in granted:
        raise LeftOut("a request for one scope of the Resource is granted all of them")
    grant = refresh_or_leave_out(world, first, "tokens for one scope are not refreshed")
    attempt = world.attempt(grant.agent, resource=resource)
    wide = replace(attempt, parameters={**attempt.parameters, "scope": f"openid {asked} {other}"})
    if case == DECLINED:
        visit = world.gateway.visit(wide, approve=False, wherever=True)
        if visit.declined is False or visit.codes():
            raise LeftOut("there was no button to decline with")
    else:
        visit = gateway.record_secrets(browser.look(gateway.authorization_url(wide), world.users[0]))
        if visit.codes():
            raise LeftOut("the request gave a code without the user")

    again = refresh_or_leave_out(world, grant, "a later request ends the tokens of the one before")

    wider = scopes_in(again.answer) - granted
    expect.that(
        not wider,
        f"scopes of a refresh after a request for more that was {case}",
        expected=f"no more than {' '.join(sorted(granted))}",
        got=" ".join(sorted(wider)),
    )
