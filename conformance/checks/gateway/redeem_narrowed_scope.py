"""Access tokens from a refresh that requests fewer scopes than granted, without ext_token:read."""

from __future__ import annotations

from gateproof.conformance.checks.gateway._exchanges import refresh
from gateproof.conformance.checks.gateway._scopes import scopes_in
from gateproof.conformance.kit.gateway.gateway import Gateway
from gateproof.conformance.kit.gateway.world import World
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import LeftOut, expect, require
from gateproof.conformance.suite.parties import Grant
from gateproof.conformance.wire.exchange import Exchange

SCOPE = "ext_token:read"


@check("REDEEM-08")
def token_of_a_narrower_refresh_gets_401(gateway: Gateway, world: World) -> None:
    """A token from a refresh without ext_token:read gets 401, although the grant's first token redeemed.

    Tested only if the gateway's answers show the scope for the grant and not for the refresh.
    """
    grant, proxy_token = world.grant(), world.backend.proxy_token()
    world.backend.require_redeemed(grant, proxy_token)
    granted = scopes_in(grant.answer)
    if SCOPE not in granted:
        raise LeftOut(f"the gateway does not show {SCOPE} among the scopes of a grant")
    narrow = _narrowed(gateway, grant, granted)
    shown = scopes_in(narrow)
    if not shown or SCOPE in shown:
        raise LeftOut(f"a refresh without {SCOPE} shows it all the same, or shows no scopes")
    token = require.text(narrow.member("access_token"), "access_token of the refresh")
    narrower = gateway.keyring.secret("access_token", token)

    answer = gateway.redeem(narrower, proxy_token, grant.resource.indicator)

    expect(answer).status(401)
    expect(answer).not_granted("the merchant token", "access_token")


def _narrowed(gateway: Gateway, grant: Grant, granted: set[str]) -> Exchange:
    """A refresh that requests every scope of the grant except ext_token:read."""
    wanted = " ".join(sorted(granted - {SCOPE}))
    answer = refresh(gateway, grant.agent, grant.refresh_token.reveal(), ("scope", wanted))
    if answer.status != 200:
        raise LeftOut("a refresh with fewer scopes than were granted is refused")
    return answer
