"""Gateways that lose other state when the core key is rotated."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from gateproof.reference.defects.defect import instead
from gateproof.reference.defects.gateway.after_another_event import Rotations
from gateproof.reference.defects.gateway.row import defect
from gateproof.reference.gateway.keys import SigningKey
from gateproof.reference.gateway.policy import authorization, code_exchange, proxy, redemption, registration
from gateproof.reference.gateway.policy.authorization import AuthorizationFacts
from gateproof.reference.gateway.policy.code_exchange import AgentFacts
from gateproof.reference.gateway.policy.proxy import ProxyClientFacts
from gateproof.reference.gateway.policy.registration import NewAgent, RegistrationFacts
from gateproof.reference.ids import Ids, fingerprint
from gateproof.reference.outcomes import Refusal

LOST = Refusal(status=401, error="invalid_client", description="unknown client", challenge='Basic realm="g"')


def sign_in_ends() -> dict[str, Any]:
    rotations = Rotations()

    def ready(_facts: AuthorizationFacts) -> Refusal | None:
        unready = Refusal(status=400, error="invalid_request", description="This Resource is not ready.")
        return unready if rotations.began else None

    return {
        "new_core_key": rotations.new_core_key,
        "page_checks": (*authorization.PAGE_CHECKS, ready),
    }


def agents_end() -> dict[str, Any]:
    rotations, made = Rotations(), dict[str, int]()

    def new(facts: RegistrationFacts, ids: Ids, now: float) -> NewAgent:
        agent = registration.new_agent(facts, ids, now)
        made[agent.agent.id] = rotations.keys
        return agent

    def still_known(facts: AgentFacts) -> Refusal | None:
        return None if made.get(facts.credentials.client_id) == rotations.keys else LOST

    return {
        "new_core_key": rotations.new_core_key,
        "new_agent": new,
        "agent_checks": (*code_exchange.AGENT_CHECKS, still_known),
    }


def proxy_clients_end() -> dict[str, Any]:
    rotations, made = Rotations(), dict[str, int]()

    def kept(secret: str) -> str:
        made[fingerprint(secret)] = rotations.keys
        return fingerprint(secret)

    def still_known(facts: ProxyClientFacts) -> Refusal | None:
        known = facts.client is not None and made.get(facts.client.secret) == rotations.keys
        return None if known else LOST

    return {
        "new_core_key": rotations.new_core_key,
        "kept_proxy_secret": kept,
        "proxy_client_checks": (*proxy.PROXY_CLIENT_CHECKS, still_known),
    }


def revocations_end() -> dict[str, Any]:
    rotations, refused = Rotations(), dict[str, int]()

    def stands(facts: ProxyClientFacts) -> Refusal | None:
        refusal = proxy.proxy_client_is_not_revoked(facts)
        if refusal is None or facts.client is None:
            return refusal
        return refusal if refused.setdefault(facts.client.id, rotations.keys) == rotations.keys else None

    return {
        "new_core_key": rotations.new_core_key,
        "proxy_client_checks": instead(proxy.PROXY_CLIENT_CHECKS, proxy.proxy_client_is_not_revoked, stands),
    }


def verified_by_the_first_key() -> dict[str, Any]:
    first: list[SigningKey] = []

    def claims(token: str, keys: Iterable[SigningKey], issuer: str, now: float) -> Mapping[str, Any] | None:
        if not first:
            first.extend(keys)
        return redemption.verified_claims(token, first, issuer, now)

    return {"verified_claims": claims}


DEFECTS = (
    defect(
        "nobody-signs-in-after-a-rotation (AUTHZ-01): After a rotation of the core key, every authorization "
        "request gets an error page.",
        **sign_in_ends(),
    ),
    defect(
        "agents-forgotten-at-a-rotation (CODE-01 REG-14): After a rotation of the core key, agents that "
        "registered before get invalid_client.",
        **agents_end(),
    ),
    defect(
        "proxy-clients-forgotten-at-a-rotation (PROXY-01): After a rotation of the core key, Proxy clients "
        "that were created before get invalid_client.",
        **proxy_clients_end(),
    ),
    defect(
        "revocations-forgotten-at-a-rotation (PROXY-04 REDEEM-06 ROBUST-04): A revoked Proxy client that was "
        "refused before a rotation of the core key works again after it.",
        **revocations_end(),
    ),
    defect(
        "redeemed-by-the-first-key-alone (REDEEM-01 KEYS-04): Redemption verifies access tokens only with "
        "the keys of its first redemption, without later ones.",
        **verified_by_the_first_key(),
    ),
)
