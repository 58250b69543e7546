"""The token endpoint accepts no token in place of another, and no agent's credentials in a header."""

from __future__ import annotations

from urllib.parse import quote

from gateproof.conformance.checks.gateway._exchanges import code_after_working_exchange, no_tokens, refresh
from gateproof.conformance.checks.gateway._refreshed_tokens import refreshable
from gateproof.conformance.kit.gateway.world import World
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import NotApplicable, require
from gateproof.conformance.suite.parties import Authorization
from gateproof.conformance.wire.agent import fresh_verifier
from gateproof.conformance.wire.backend import basic

# Whether the code was exchanged before; whether the client ID is in the form in addition to the header.
USES = {"unused": False, "used": True}
NAMES = {"basic": False, "basic-and-client-id-in-the-form": True}


@check("CODE-06", cases=USES)
def code_as_a_refresh_token_gets_no_tokens(world: World, case: bool) -> None:
    """A code that is sent as a refresh token, without its verifier and redirect URI, gets no tokens."""
    world, authorization = code_after_working_exchange(world)
    if case:
        require(world.gateway.exchange(authorization)).status(200)

    answer = refresh(world.gateway, authorization.agent, authorization.code.reveal())

    no_tokens(answer, "a code in place of a refresh token")


@check("CODE-04")
def refresh_token_as_a_code_gets_no_tokens(world: World) -> None:
    """A refresh token that is sent as a code, with a verifier of no authorization, gets no tokens."""
    world, authorization = code_after_working_exchange(world)
    grant = world.grant(agent=authorization.agent)
    as_a_code = Authorization(
        agent=grant.agent,
        code=grant.refresh_token,
        verifier=world.gateway.keyring.secret("code_verifier", fresh_verifier()),
        redirect_uri=authorization.redirect_uri,
    )

    no_tokens(world.gateway.exchange(as_a_code), "a refresh token in place of a code")


@check("CODE-16", cases=("access_token", "id_token"))
def other_token_as_a_refresh_token_gets_no_tokens(world: World, case: str) -> None:
    """An access token or an ID token that is sent as a refresh token gets no tokens."""
    grant = refreshable(world, NotApplicable)

    answer = refresh(world.gateway, grant.agent, getattr(grant, case).reveal())

    no_tokens(answer, f"the {case} in place of a refresh token")


@check("CODE-09", cases=NAMES)
def refresh_with_credentials_in_a_header_is_refused(world: World, case: bool) -> None:
    """An agent that refreshes with its correct credentials by HTTP Basic gets no tokens.

    Credentials that are form-encoded first are tried as well, if that changes them.
    """
    grant = refreshable(world)
    pair = grant.agent.client_id, grant.agent.client_secret.reveal()
    form = [("grant_type", "refresh_token"), ("refresh_token", grant.refresh_token.reveal())]
    named = [("client_id", grant.agent.client_id)] if case else []
    encoded = [quote(part, safe="") for part in pair]

    for header in dict.fromkeys((basic(*pair), basic(*encoded))):
        answer = world.gateway.token_request([*form, *named], header)
        no_tokens(answer, "a refresh token and the agent's credentials in a Basic header")
