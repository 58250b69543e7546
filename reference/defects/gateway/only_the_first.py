"""Gateways that work only for the first Project, Resource, user, agent or key."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gateproof.reference.defects.defect import without_members
from gateproof.reference.defects.gateway.row import defect
from gateproof.reference.gateway.keys import KeyRing, SigningKey
from gateproof.reference.gateway.policy import authorization, proxy, redemption, token_claims
from gateproof.reference.gateway.policy.authorization import AuthorizationFacts
from gateproof.reference.gateway.policy.proxy import ProxyCredentials
from gateproof.reference.gateway.policy.redemption import RedemptionFacts
from gateproof.reference.gateway.policy.token_claims import TokenFacts, Tokens
from gateproof.reference.gateway.records import Person, ProxyClient, Resource
from gateproof.reference.gateway.store import Store
from gateproof.reference.outcomes import JsonObject, Refusal

# The ID of a container, such as a Project, and the ID of an object in it.
Named = tuple[str, str]


def resource_of_its_project(resource: Resource) -> Named:
    return resource.project_id, resource.id


def project(resource: Resource) -> Named:
    return "", resource.project_id


def user_of_the_resource(resource: Resource, person: Person) -> Named:
    return resource.id, person.login_id


class First:
    """Remembers the first object of each container."""

    def __init__(self) -> None:
        self._names: dict[str, str] = {}

    def is_(self, named: Named) -> bool:
        within, name = named
        return self._names.setdefault(within, name) == name


def authorizes_only_the_first(named: Callable[[Resource], Named]) -> dict[str, Any]:
    """Authorization requests get an error page unless their object is the first of its container."""
    first = First()

    def is_the_first(facts: AuthorizationFacts) -> Refusal | None:
        if first.is_(named(facts.resource)):
            return None
        return Refusal(status=400, error="invalid_request", description="This Resource is not ready.")

    return {"page_checks": (*authorization.PAGE_CHECKS, is_the_first)}


def refresh_token_only_for_the_first(named: Callable[[TokenFacts], Named]) -> dict[str, Any]:
    """Token responses have a refresh token only for the first object of each container."""
    first = First()

    def token_answer(facts: TokenFacts, tokens: Tokens) -> JsonObject:
        answer = token_claims.token_answer(facts, tokens)
        return answer if first.is_(named(facts)) else without_members(answer, "refresh_token")

    return {"token_answer": token_answer}


def redeems_only_for_the_first(named: Callable[[RedemptionFacts, Resource], Named]) -> dict[str, Any]:
    """Redemption finds a Resource only for the first object of each container."""
    first = First()

    def redeemed_resource(facts: RedemptionFacts) -> Resource | None:
        resource = redemption.redeemed_resource(facts)
        return resource if resource is not None and first.is_(named(facts, resource)) else None

    return {"redeemed_resource": redeemed_resource}


def knows_proxy_clients_of_the_first() -> dict[str, Any]:
    first = First()

    def proxy_client_named(store: Store, credentials: ProxyCredentials) -> ProxyClient | None:
        client = proxy.proxy_client_named(store, credentials)
        return client if client is not None and first.is_(("", client.project_id)) else None

    return {"proxy_client_named": proxy_client_named}


def users_named(facts: RedemptionFacts, resource: Resource) -> Named:
    return user_of_the_resource(resource, facts.grant.person) if facts.grant else ("", "")


def agents_named(facts: RedemptionFacts, resource: Resource) -> Named:
    return (f"{resource.id} {facts.grant.sub}", facts.grant.agent_id) if facts.grant else ("", "")


def oldest_key(core: KeyRing, _now: float) -> tuple[SigningKey, ...]:
    return (core.retired[0].key if core.retired else core.current,)


DEFECTS = (
    defect(
        "sign-in-at-the-first-resource-alone (AUTHZ-01): The authorization endpoint accepts only the first "
        "Resource of each Project.",
        **authorizes_only_the_first(resource_of_its_project),
    ),
    defect(
        "sign-in-in-the-first-project-alone (AUTHZ-01 AUTHZ-08 AUTHZ-09): The authorization endpoint accepts "
        "only the Resources of the first Project.",
        **authorizes_only_the_first(project),
    ),
    defect(
        "refresh-token-at-the-first-resource-alone (CODE-01): An agent gets refresh tokens only for the "
        "first Resource of each Project.",
        **refresh_token_only_for_the_first(lambda facts: resource_of_its_project(facts.resource)),
    ),
    defect(
        "refresh-token-in-the-first-project-alone (CODE-01): An agent gets refresh tokens only for Resources "
        "of the first Project.",
        **refresh_token_only_for_the_first(lambda facts: project(facts.resource)),
    ),
    defect(
        "refresh-token-for-the-first-user-alone (CODE-01): An agent gets refresh tokens only for the first "
        "user of a Resource.",
        **refresh_token_only_for_the_first(
            lambda facts: user_of_the_resource(facts.resource, facts.grant.person)
        ),
    ),
    defect(
        "redemption-at-the-first-resource-alone (REDEEM-01): Redemption finds only the first Resource of "
        "each Project.",
        **redeems_only_for_the_first(lambda _, resource: resource_of_its_project(resource)),
    ),
    defect(
        "redemption-in-the-first-project-alone (REDEEM-01): Redemption finds only the Resources of the first "
        "Project.",
        **redeems_only_for_the_first(lambda _, resource: project(resource)),
    ),
    defect(
        "redemption-for-the-first-user-alone (REDEEM-01): Redemption finds a Resource only for its first "
        "user.",
        **redeems_only_for_the_first(users_named),
    ),
    defect(
        "redemption-for-the-first-agent-alone (REDEEM-01 ROBUST-03): Redemption finds a Resource only for "
        "the first agent of each user.",
        **redeems_only_for_the_first(agents_named),
    ),
    defect(
        "proxy-clients-of-the-first-project-alone (PROXY-01): The token endpoint knows only the Proxy "
        "clients of the first Project.",
        **knows_proxy_clients_of_the_first(),
    ),
    defect(
        "redemption-knows-the-oldest-key-alone (REDEEM-01): Redemption verifies tokens with the oldest "
        "signing key only.",
        live_core_keys=oldest_key,
    ),
)
