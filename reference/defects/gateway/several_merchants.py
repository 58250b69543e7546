"""Gateways that mix up merchants: their users, sessions, tokens, endpoints or answers."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any, cast
from urllib.parse import urlsplit

from gateproof.reference.defects.gateway.row import defect
from gateproof.reference.deviations.altered_answers import Answered, Asked, altering_answers
from gateproof.reference.gateway.gateway import Gateway
from gateproof.reference.gateway.merchants import Merchants
from gateproof.reference.gateway.policy import sign_in
from gateproof.reference.gateway.policy.redemption import RedemptionFacts
from gateproof.reference.gateway.policy.sign_in import IdTokenFacts
from gateproof.reference.gateway.policy.vault import MerchantAnswer
from gateproof.reference.gateway.records import Grant, MerchantPlace, Person, Resource, VaultKey
from gateproof.reference.gateway.vault import Vault


class _ByClientId:
    """Looks up the merchant's token endpoint by the client ID only."""

    def __init__(self, merchants: Merchants) -> None:
        self._merchants = merchants
        self._places: dict[str, MerchantPlace] = {}

    async def ask(self, merchant: MerchantPlace, form: dict[str, str]) -> MerchantAnswer:
        return await self._merchants.ask(self._places.setdefault(merchant.client_id, merchant), form)


class _AsDiscovered:
    """Believes discovery documents that name another merchant's issuer about its token endpoint."""

    def __init__(self, merchants: Merchants) -> None:
        self._merchants = merchants
        self._known: dict[str, str] = {}
        self._read: set[str] = set()

    async def ask(self, merchant: MerchantPlace, form: dict[str, str]) -> MerchantAnswer:
        if merchant.issuer not in self._read:
            self._read.add(merchant.issuer)
            document = await self._merchants.document_of(merchant.issuer, merchant.ca_file) or {}
            if document.get("issuer", merchant.issuer) != merchant.issuer:
                self._known[str(document["issuer"])] = str(document.get("token_endpoint"))
        endpoint = self._known.get(merchant.issuer, merchant.token_endpoint)
        return await self._merchants.ask(replace(merchant, token_endpoint=endpoint), form)


class VaultByClientId(Vault):
    def __init__(self, *, merchants: Merchants, **parts: Any) -> None:
        super().__init__(merchants=cast("Merchants", _ByClientId(merchants)), **parts)


class VaultAsDiscovered(Vault):
    def __init__(self, *, merchants: Merchants, **parts: Any) -> None:
        super().__init__(merchants=cast("Merchants", _AsDiscovered(merchants)), **parts)


def key_by_client_id(grant: Grant, resource: Resource) -> VaultKey:
    return VaultKey(
        project_id=grant.project_id,
        sub=grant.sub,
        resource_id=resource.merchant.client_id,
        login_id=grant.person.login_id,
    )


def session_under_the_issuer_that_was_claimed() -> dict[str, Any]:
    """Stores the session under the issuer in the ID token, whichever merchant sent the ID token."""
    claimed: dict[str, str] = {}

    def person_named(facts: IdTokenFacts) -> Person | None:
        checks = tuple(each for each in sign_in.ID_TOKEN_CHECKS if each is not sign_in.is_from_the_merchant)
        person = sign_in.person_named(facts, checks)
        if person is not None:
            claimed[facts.merchant.issuer] = str(facts.claims.get("iss"))
        return person

    def session_of(resource: Resource) -> str:
        return claimed.pop(resource.merchant.issuer, resource.merchant.issuer)

    return {"person_named": person_named, "session_of": session_of}


def named_by_iss(resource: Resource, issuer: str, others: Iterable[Resource]) -> MerchantPlace | None:
    """Accepts an answer of any merchant that the gateway knows."""
    known = [each.merchant for each in others if each.merchant.issuer == issuer]
    return known[-1] if known else resource.merchant


def endpoint_named_by_iss(
    resource: Resource, issuer: str, others: Iterable[Resource]
) -> MerchantPlace | None:
    """Sends the code to the merchant in iss, but requires an ID token for the Resource's merchant."""
    other = named_by_iss(resource, issuer, others) or resource.merchant
    return replace(resource.merchant, token_endpoint=other.token_endpoint, jwks_uri=other.jwks_uri)


def whoever_answers(resource: Resource, _issuer: str, _others: Iterable[Resource]) -> MerchantPlace | None:
    return resource.merchant


def same_host(resource: Resource, issuer: str, _others: Iterable[Resource]) -> MerchantPlace | None:
    own = urlsplit(resource.merchant.issuer).hostname
    return resource.merchant if not issuer or urlsplit(issuer).hostname == own else None


async def sent_as_discovered(asked: Asked, answered: Answered, gateway: Gateway) -> Answered:
    """Redirects to the authorization endpoint in the merchant's discovery document."""
    resource = gateway.store.resources.get(asked.path.split("/")[-3] if asked.path.count("/") > 2 else "")
    location = answered.header("location")
    if resource is None or not location.startswith(resource.merchant.authorization_endpoint):
        return answered
    place = resource.merchant
    document = await gateway.merchants.document_of(place.issuer, place.ca_file) or {}
    endpoint = str(document.get("authorization_endpoint") or place.authorization_endpoint)
    sent = endpoint + location.removeprefix(place.authorization_endpoint)
    headers = [(name, sent if name == "location" else value) for name, value in answered.headers]
    return replace(answered, headers=tuple(headers))


def any_of_the_project(facts: RedemptionFacts) -> Resource | None:
    """Finds any Resource of the Project; subjects are the same for one login at all its merchants."""
    return next(
        (
            each
            for each in facts.resources
            if each.project_id == facts.project_id and each.indicator == facts.indicator
        ),
        None,
    )


DEFECTS = (
    defect(
        "users-of-all-merchants-by-login (AUTHZ-22): An access token redeems every Resource of its Project; "
        "at another merchant it redeems for the user with the same login.",
        redeemed_resource=any_of_the_project,
    ),
    defect(
        "session-by-client-id (AUTHZ-22): A signed-in browser is also signed in at every other merchant "
        "where the gateway has the same client ID.",
        session_of=lambda resource: resource.merchant.client_id,
    ),
    defect(
        "session-by-project (AUTHZ-22): A signed-in browser is also signed in at every other merchant of "
        "the Project.",
        session_of=lambda resource: resource.project_id,
    ),
    defect(
        "session-everywhere (AUTHZ-22): A browser that is signed in at one merchant is signed in at all "
        "merchants.",
        session_of=lambda _resource: "",
    ),
    defect(
        "session-under-the-claimed-issuer (AUTHZ-22 AUTHZ-28): The gateway does not check iss of an ID "
        "token, and stores the session under the issuer that it names.",
        **session_under_the_issuer_that_was_claimed(),
    ),
    defect(
        "token-endpoint-by-client-id (AUTHZ-22): If the gateway has the same client ID at two merchants, "
        "requests for both go to the token endpoint of the first.",
        vault_factory=VaultByClientId,
    ),
    defect(
        "token-endpoint-by-claimed-issuer (AUTHZ-22): A discovery document that names another merchant's "
        "issuer replaces the token endpoint of that merchant.",
        vault_factory=VaultAsDiscovered,
    ),
    defect(
        "vault-by-client-id (AUTHZ-22): The vault is keyed by user and client ID at the merchant, so two "
        "merchants with the same client ID share an entry.",
        vault_key=key_by_client_id,
    ),
    defect(
        "merchant-named-by-iss (AUTHZ-29): The gateway accepts a sign-in by any known merchant that the "
        "callback names in iss.",
        answering=named_by_iss,
    ),
    defect(
        "token-endpoint-named-by-iss (AUTHZ-29): The gateway sends the merchant's code to the merchant that "
        "the callback names in iss.",
        answering=endpoint_named_by_iss,
    ),
    defect(
        "one-callback-without-iss (AUTHZ-29): All Resources share one callback, which ignores iss.",
        one_callback=True,
        answering=whoever_answers,
    ),
    defect(
        "one-callback-iss-by-host (AUTHZ-29): All Resources share one callback, which compares only the "
        "host of iss.",
        one_callback=True,
        answering=same_host,
    ),
    defect(
        "authorization-endpoint-as-discovered (AUTHZ-29): The gateway redirects to the endpoint in the "
        "merchant's discovery document; all Resources share one callback, which ignores iss.",
        one_callback=True,
        answering=whoever_answers,
        around=altering_answers(sent_as_discovered),
    ),
)
