"""Gateways that confuse similar values, or current values with earlier ones."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from gateproof.reference.defects.gateway.code_bindings import verifier_accepted_if
from gateproof.reference.defects.gateway.proxy_clients import redemption_check_replaced
from gateproof.reference.defects.gateway.row import defect
from gateproof.reference.gateway.keys import KeyRing, SigningKey, new_key
from gateproof.reference.gateway.pages import ApprovePageFacts, approve_page
from gateproof.reference.gateway.policy import authorization, redemption
from gateproof.reference.gateway.policy.authorization import ConsentFacts
from gateproof.reference.gateway.policy.code_exchange import challenge_of
from gateproof.reference.gateway.policy.discovery import REDEMPTION_SCOPE
from gateproof.reference.gateway.policy.key_sets import live_core_keys
from gateproof.reference.gateway.policy.redemption import RedemptionFacts
from gateproof.reference.gateway.policy.token_claims import TokenFacts, access_token_claims
from gateproof.reference.gateway.records import Decision, Standing
from gateproof.reference.ids import Ids
from gateproof.reference.outcomes import JsonObject, Refusal

STAY = "deny-but-stay"


class YesForGood:
    """If the user has approved the agent before, both buttons approve."""

    def __init__(self) -> None:
        self._said_yes = False

    def consent(self, facts: ConsentFacts) -> Standing | None:
        self._said_yes = facts.answers.get(facts.login_id) == "approve"
        return authorization.consent(facts)

    def approve_page(self, facts: ApprovePageFacts) -> str:
        page = approve_page(facts)
        return page.replace('value="deny"', f'value="{STAY}"') if self._said_yes else page

    @staticmethod
    def decided(pressed: str) -> Decision:
        return "approve" if pressed == STAY else authorization.decided(pressed)


def yes_for_good() -> dict[str, Any]:
    asking = YesForGood()
    return {"consent": asking.consent, "approve_page": asking.approve_page, "decided": asking.decided}


def project_by_indicator() -> Callable[[TokenFacts], JsonObject]:
    """Takes the first Project that is known for the Resource indicator."""
    projects: dict[str, str] = {}

    def claims(facts: TokenFacts) -> JsonObject:
        found = projects.setdefault(facts.resource.indicator, facts.resource.project_id)
        return access_token_claims(replace(facts, resource=replace(facts.resource, project_id=found)))

    return claims


def scope_somewhere(facts: RedemptionFacts) -> Refusal | None:
    found = facts.claims is not None and REDEMPTION_SCOPE in facts.claims["scope"]
    return None if found else redemption.user_token_may_redeem(facts)


def current_and_last(core: KeyRing, now: float) -> tuple[SigningKey, ...]:
    return live_core_keys(replace(core, retired=core.retired[-1:]), now)


def current_and_last_two(core: KeyRing, now: float) -> tuple[SigningKey, ...]:
    return live_core_keys(replace(core, retired=core.retired[-2:]), now)


def current_and_fresh(core: KeyRing, now: float) -> tuple[SigningKey, ...]:
    return core.current, *(old.key for old in core.retired if now < old.retired_at + 300)


def namesake(ids: Ids) -> SigningKey:
    return replace(new_key(ids), kid="key_of_the_core")


DEFECTS = (
    defect(
        "yes-is-for-good (AUTHZ-16 ROBUST-04): After a user has approved an agent once, the button to "
        "decline also approves it.",
        **yes_for_good(),
    ),
    defect(
        "project-found-by-the-indicator (CLAIM-08 REDEEM-01): ext.project_id is the first Project that has "
        "a Resource with this indicator.",
        access_token_claims=project_by_indicator(),
    ),
    defect(
        "redemption-scope-as-a-beginning (REDEEM-08): The gateway accepts for redemption any scope that "
        "contains ext_token:read, for example as its beginning.",
        **redemption_check_replaced(redemption.user_token_may_redeem, scope_somewhere),
    ),
    defect(
        "verifier-stripped (CODE-04): The gateway removes whitespace around a code_verifier.",
        **verifier_accepted_if(lambda verifier, challenge: challenge_of(verifier.strip()) == challenge),
    ),
    defect(
        "rotation-keeps-one-key (KEYS-04): The gateway keeps one retired key, so a second rotation removes "
        "a key whose tokens have not expired.",
        core_keys_shown=lambda core, now, _own: current_and_last(core, now),
        live_core_keys=current_and_last,
    ),
    defect(
        "rotation-keeps-two-keys (KEYS-04): The gateway keeps two retired keys, so a third rotation removes "
        "a key whose tokens have not expired.",
        core_keys_shown=lambda core, now, _own: current_and_last_two(core, now),
        live_core_keys=current_and_last_two,
    ),
    defect(
        "old-key-for-five-minutes (KEYS-04): The gateway removes a rotated key from the key set after five "
        "minutes, before its tokens expire.",
        core_keys_shown=lambda core, now, _own: current_and_fresh(core, now),
        live_core_keys=current_and_fresh,
    ),
    defect(
        "new-key-under-the-old-name (KEYS-05 KEYS-03 KEYS-04): All signing keys of the core have the same "
        "kid.",
        new_core_key=namesake,
    ),
)
