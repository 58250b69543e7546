"""Gateways that are correct until another event: a failed exchange, a key rotation, another user."""

from __future__ import annotations

from contextvars import ContextVar
from dataclasses import replace
from typing import Any

from gateproof.reference.defects.gateway.codes import Checks, Codes
from gateproof.reference.defects.gateway.row import defect
from gateproof.reference.gateway.keys import KeyRing, SigningKey, new_key
from gateproof.reference.gateway.policy import authorization, code_exchange, key_sets, sign_in, token_claims
from gateproof.reference.gateway.policy.authorization import AuthorizationFacts
from gateproof.reference.gateway.policy.code_exchange import CodeFacts, CodeRefused
from gateproof.reference.gateway.policy.sign_in import IdTokenFacts
from gateproof.reference.gateway.policy.token_claims import TokenFacts
from gateproof.reference.gateway.records import AuthorizationRequest, Code, Person, Project, SignIn, Standing
from gateproof.reference.ids import Ids
from gateproof.reference.outcomes import JsonObject

# The user of the current request.
_USER: ContextVar[Person | None] = ContextVar("user", default=None)


def put_back_after_a_failure() -> dict[str, Any]:
    """A failed exchange makes a used code usable again."""

    async def spend(codes: Codes, key: str, checks: Checks, facts: CodeFacts) -> Code | CodeRefused:
        before = codes.get(key)
        outcome = await code_exchange.spend_code(codes, key, checks, facts)
        used_before = before is not None and before.spent
        failed = code_exchange.verifier_matches(replace(facts, code=before)) is not None
        if before is None or not (used_before and failed and isinstance(outcome, CodeRefused)):
            return outcome
        codes.change(key, replace(before, spent=False))
        return replace(outcome, revokes=None)

    return {"spend_code": spend}


class Rotations:
    """Counts the signing keys of the core."""

    def __init__(self) -> None:
        self.keys = 0

    def new_core_key(self, ids: Ids) -> SigningKey:
        self.keys += 1
        return new_key(ids)

    @property
    def began(self) -> bool:
        return self.keys > 1


def used_codes_forgotten() -> dict[str, Any]:
    """Which codes were used is recorded for the current core key only."""
    rotations, used = Rotations(), set[tuple[str, int]]()

    async def spend(codes: Codes, key: str, checks: Checks, facts: CodeFacts) -> Code | CodeRefused:
        code = codes.get(key)
        if code is not None and code.spent and (key, rotations.keys) not in used:
            codes.change(key, replace(code, spent=False))
        used.add((key, rotations.keys))
        return await code_exchange.spend_code(codes, key, checks, facts)

    return {"new_core_key": rotations.new_core_key, "spend_code": spend}


def resource_keys_with_the_newest() -> dict[str, Any]:
    def shown(core: KeyRing, own: SigningKey) -> tuple[SigningKey, ...]:
        return (own, core.current) if core.retired else (own,)

    return {"resource_keys_shown": shown}


def id_tokens_for_the_resource() -> dict[str, Any]:
    rotations = Rotations()

    def claims(facts: TokenFacts) -> JsonObject:
        honest = token_claims.id_token_claims(facts)
        return honest | {"aud": [facts.agent.id, facts.resource.indicator]} if rotations.began else honest

    return {"new_core_key": rotations.new_core_key, "id_token_claims": claims}


def id_tokens_by_a_key_that_is_not_shown() -> dict[str, Any]:
    def signing(core: KeyRing, own: SigningKey) -> SigningKey:
        return own if core.retired else key_sets.id_token_key(core, own)

    return {"id_token_key": signing}


def pending_for_the_first_user() -> dict[str, Any]:
    """A Pending agent is held only for the first user who signed in for one."""
    first: list[str] = []

    def remembered(person: Person | None, now: float) -> Person | None:
        _USER.set(person)
        return sign_in.remembered(person, now)

    def same_browser(begun: SignIn, browser: str | None) -> bool:
        _USER.set(begun.person)
        return sign_in.same_browser(begun, browser)

    def named(facts: IdTokenFacts) -> Person | None:
        person = sign_in.person_named(facts)
        _USER.set(person)
        return person

    def standing(recorded: Standing | None, project: Project) -> Standing:
        honest, user = authorization.agent_standing(recorded, project), _USER.get()
        if honest != "pending" or user is None:
            return honest
        if not first:
            first.append(user.login_id)
        return "pending" if user.login_id in first else "approved"

    return {
        "remembered": remembered,
        "same_browser": same_browser,
        "person_named": named,
        "agent_standing": standing,
    }


def first_user_of_the_browser() -> dict[str, Any]:
    """Every sign-in goes to the merchant, but a user known from the browser's cookie replaces its result."""
    known: dict[str, Person] = {}

    def remembered(person: Person | None, _now: float) -> None:
        _USER.set(person)

    def request(facts: AuthorizationFacts) -> AuthorizationRequest:
        honest, person = authorization.authorization_request(facts), _USER.get()
        if person is not None:
            known[honest.state] = person
        return honest

    def same_browser(begun: SignIn, browser: str | None) -> bool:
        _USER.set(known.get(begun.request.state))
        return sign_in.same_browser(begun, browser)

    def named(facts: IdTokenFacts) -> Person | None:
        person = sign_in.person_named(facts)
        return (_USER.get() or person) if person else None

    return {
        "remembered": remembered,
        "authorization_request": request,
        "same_browser": same_browser,
        "person_named": named,
    }


DEFECTS = (
    defect(
        "used-codes-put-back-by-a-failure (CODE-02 CODE-10 CODE-12 CODE-14 ROBUST-04): An exchange with a "
        "wrong verifier makes a used code usable again.",
        **put_back_after_a_failure(),
    ),
    defect(
        "used-codes-forgotten-at-a-rotation (CODE-02 CODE-12 ROBUST-04): After a rotation of the core key, a "
        "used code can be used once more.",
        **used_codes_forgotten(),
    ),
    defect(
        "new-core-key-among-the-resources (KEYS-02): After a rotation, the key sets of the Resources contain "
        "the new core key too.",
        **resource_keys_with_the_newest(),
    ),
    defect(
        "id-token-for-the-resource-after-a-rotation (CLAIM-10): After a rotation, the audience of ID tokens "
        "contains the Resource indicator.",
        **id_tokens_for_the_resource(),
    ),
    defect(
        "id-token-key-not-shown-after-a-rotation (CLAIM-11): After a rotation, ID tokens are signed with a "
        "key that is not in the core key set.",
        **id_tokens_by_a_key_that_is_not_shown(),
    ),
    defect(
        "pending-for-the-first-user-alone (AUTHZ-07 ROBUST-04): A Pending agent is held only for the first "
        "user who signed in for one; other users get a code.",
        **pending_for_the_first_user(),
    ),
    defect(
        "browser-keeps-its-first-user (REDEEM-12 CLAIM-03 AUTHZ-17 AUTHZ-20 VAULT-09 ROBUST-04): A sign-in "
        "in a browser in which another user signed in before counts as a sign-in of that first user.",
        **first_user_of_the_browser(),
    ),
)
