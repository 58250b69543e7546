"""Gateways at which whoever brings a refresh token need not be the agent that it was given to."""

from __future__ import annotations

from contextvars import ContextVar

from gateproof.reference.defects.defect import instead
from gateproof.reference.defects.gateway.row import defect
from gateproof.reference.gateway.policy import code_exchange
from gateproof.reference.gateway.policy.code_exchange import AgentFacts, RefreshFacts, TokenRequestFacts
from gateproof.reference.outcomes import Refusal

_REFRESHING: ContextVar[bool] = ContextVar("refreshing", default=False)


def anybodys_refresh_token(facts: RefreshFacts) -> Refusal | None:
    """Everything but whose it is."""
    token, grant = facts.token, facts.grant
    good = token is not None and grant is not None and not grant.revoked
    if good and token is not None and not token.spent and facts.now < token.expires_at:
        return None
    return code_exchange.refresh_token_is_good(facts)


def says_what_for(facts: TokenRequestFacts) -> Refusal | None:
    _REFRESHING.set(facts.value("grant_type") == "refresh_token")
    return None


def secret_is_right_for_a_code(facts: AgentFacts) -> Refusal | None:
    return None if _REFRESHING.get() else code_exchange.agent_secret_is_right(facts)


DEFECTS = (
    defect(
        "refresh-tokens-of-everybody (CODE-08 ROBUST-04): A refresh token is good for whichever agent "
        "brings it.",
        refresh_checks=instead(
            code_exchange.REFRESH_CHECKS, code_exchange.refresh_token_is_good, anybodys_refresh_token
        ),
    ),
    defect(
        "refreshed-without-the-secret (CODE-07 ROBUST-04): Whoever has a refresh token need not know the "
        "secret of its agent.",
        token_request_checks=(says_what_for, *code_exchange.TOKEN_REQUEST_CHECKS),
        agent_checks=instead(
            code_exchange.AGENT_CHECKS, code_exchange.agent_secret_is_right, secret_is_right_for_a_code
        ),
    ),
)
