"""Other legal answers to unusual registrations, and refusals without details."""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import replace

import httpx

from gateproof.reference.defects.defect import instead
from gateproof.reference.deviations.altered_answers import Answered, Asked, altering_answers
from gateproof.reference.gateway.gateway import Gateway
from gateproof.reference.gateway.policy.registration import (
    AUTH_METHOD,
    REGISTRATION_CHECKS,
    NewAgent,
    RegistrationFacts,
    auth_method_is_supported,
    new_agent,
)
from gateproof.reference.ids import Ids
from gateproof.reference.outcomes import Refusal, json_in
from gateproof.reference.variants.variant import variant

# The members that the specification names.
KNOWN = {"client_name", "redirect_uris", "grant_types", "response_types", "token_endpoint_auth_method"}

# What a gateway assigns itself.
_ASSIGNED = ("client_id", "client_secret")
# The members of an answer that succeeds.
_RECORDS = {
    "/api/register": ("client_id", "client_secret", "client_secret_expires_at"),
    "/api/credentials/token": ("access_token", "expires_at", "scopes"),
    "/oauth2/token": ("access_token", "token_type", "refresh_token", "id_token", "scope"),
}


def _no_basic(facts: RegistrationFacts) -> Refusal | None:
    if facts.value("token_endpoint_auth_method") != "client_secret_basic":
        return None
    return auth_method_is_supported(facts)


def _always_with_a_secret(facts: RegistrationFacts, ids: Ids, now: float) -> NewAgent:
    """Registers the agent for the only supported method, whatever it asked for."""
    new = new_agent(facts, ids, now)
    return replace(new, agent=replace(new.agent, auth_method=AUTH_METHOD))


def _known_metadata_alone(facts: RegistrationFacts) -> Refusal | None:
    if facts.metadata.keys() <= KNOWN:
        return None
    return Refusal(status=422, error="invalid_client_metadata", description="there is a member too many")


def _empty_refusals(asked: Asked, answered: Answered, _gateway: Gateway) -> Answered:
    if not asked.path.endswith("/api/credentials/token") or answered.status not in {400, 401, 404}:
        return answered
    headers = tuple(pair for pair in answered.headers if pair[0] != "content-type")
    return Answered(status=answered.status, headers=headers, body=b"")


def _refusals_as_a_string(asked: Asked, answered: Answered, _gateway: Gateway) -> Answered:
    """`return BadRequest("refused")`: the body is a JSON string."""
    if not asked.path.endswith("/api/credentials/token") or answered.status not in {400, 401, 404}:
        return answered
    headers = (("content-type", "application/json; charset=utf-8"), ("cache-control", "no-store"))
    return Answered(status=answered.status, headers=headers, body=b'"refused"')


def _refusals_by_accept(asked: Asked, answered: Answered, _gateway: Gateway) -> Answered:
    """Explains a refusal only if the client accepts JSON; others get 422 for bad metadata."""
    at = next((path for path in ("/api/register", "/api/credentials/token") if asked.path.endswith(path)), "")
    if not at or answered.status not in {400, 401, 404} or "json" in asked.headers.get("accept", ""):
        return answered
    headers = (("content-type", "application/json"), ("cache-control", "no-store"))
    status = 422 if at == "/api/register" else answered.status
    return Answered(status=status, headers=headers, body=b'"refused"')


def _refusals_of_one_record(asked: Asked, answered: Answered, _gateway: Gateway) -> Answered:
    """A refusal has every member of a success, without a value, as a record has in many languages."""
    empty = next((names for end, names in _RECORDS.items() if asked.path.endswith(end)), ())
    document = json_in(answered.body)
    if not empty or answered.status not in range(400, 500) or not isinstance(document, dict):
        return answered
    return replace(answered, body=json.dumps(dict.fromkeys(empty, "") | document).encode())


def _refusals_by_member(asked: Asked, answered: Answered, _gateway: Gateway) -> Answered:
    """Refuses a registration that names what the gateway assigns, and says so under the member's name."""
    metadata = json_in(asked.body) if asked.path.endswith("/api/register") else None
    named = [name for name in _ASSIGNED if isinstance(metadata, dict) and name in metadata]
    if not named:
        return answered
    headers = (("content-type", "application/json"), ("cache-control", "no-store"))
    body = json.dumps({name: ["must be blank"] for name in named}).encode()
    return Answered(status=400, headers=headers, body=body)


def _start_page_for_any_get(asked: Asked, answered: Answered, _gateway: Gateway) -> Answered:
    if asked.method != "GET" or not asked.path.endswith(("/oauth2/token", "/api/register")):
        return answered
    page = b"<!doctype html><title>Sign in</title><div id=app></div>"
    return Answered(status=200, headers=(("content-type", "text/html"),), body=page)


async def _fetching_key_sets(asked: Asked, answered: Answered, _gateway: Gateway) -> Answered:
    """Fetches the key set that a registration names, and ignores the result."""
    metadata = json_in(asked.body) if asked.path.endswith("/api/register") else None
    address = metadata.get("jwks_uri") if isinstance(metadata, dict) else None
    if isinstance(address, str) and address.startswith("http"):
        async with httpx.AsyncClient(verify=False, timeout=1) as client:  # noqa: S501 - nothing is sent
            with suppress(httpx.HTTPError, httpx.InvalidURL):
                await client.get(address)
    return answered


VARIANTS = (
    variant(
        "any-method-answered-with-post: the gateway registers an agent with any method except "
        "client_secret_basic as client_secret_post",
        registration_checks=instead(REGISTRATION_CHECKS, auth_method_is_supported, _no_basic),
        new_agent=_always_with_a_secret,
    ),
    variant(
        "unknown-metadata-is-refused: a registration with a member that the specification does not name "
        "gets status 422",
        registration_checks=(*REGISTRATION_CHECKS, _known_metadata_alone),
    ),
    variant(
        "agents-key-sets-are-fetched: the gateway fetches the key set that a registration names",
        around=altering_answers(_fetching_key_sets),
    ),
    variant(
        "refusals-by-accept: the gateway explains a refusal only to a client that accepts JSON",
        around=altering_answers(_refusals_by_accept),
    ),
    variant(
        "refusals-as-a-json-string: the body of a refused redemption is a JSON string",
        around=altering_answers(_refusals_as_a_string),
    ),
    variant(
        "refusals-with-empty-members: a refusal has every member of a success, as an empty text",
        around=altering_answers(_refusals_of_one_record),
    ),
    variant(
        "refusals-by-member: a registration that names client_id or client_secret is refused, with a "
        "message under that name",
        around=altering_answers(_refusals_by_member),
    ),
    variant(
        "start-page-for-any-get: a GET at the token or the registration endpoint gets the start page",
        around=altering_answers(_start_page_for_any_get),
    ),
    variant(
        "refusals-without-a-body: a refused redemption has no body", around=altering_answers(_empty_refusals)
    ),
)
