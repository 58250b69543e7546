"""Finds the client of a JWT, and verifies the signature with that client's JWKS."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from gateproof.fakes.merchant.assertions import (
    AssertionRefused,
    Presented,
    Verified,
    check_claims,
    presented,
    verified,
)
from gateproof.fakes.merchant.clients import Client
from gateproof.fakes.merchant.key_sets import KeysUnreachableError
from gateproof.fakes.merchant.merchant import Merchant

# Claims that may name the Resource indicator.
_INDICATING = ("aud", "resource")
# The maximum number of key sets that are fetched for a JWT that names no client.
SEARCH = 20


@dataclass(frozen=True, kw_only=True, slots=True)
class Recognised:
    """A client and its verified assertion."""

    client: Client
    verified: Verified


async def recognise(
    merchant: Merchant,
    token: str,
    *,
    client: Client | None,
    naming_claims: Iterable[str],
    indicators: frozenset[str] = frozenset(),
) -> Recognised:
    """Verifies a JWT for this client, or else the client that it names, or else one whose key fits."""
    arrived = merchant.key_sets.now()
    given = presented(token)
    meant = client or _named(merchant, given, naming_claims)
    indicators |= {each for claim in _INDICATING for each in _texts(given.claims.get(claim))}
    try:
        if meant is not None:
            recognised = await _signed_by(merchant, given, meant, arrived)
        else:
            recognised = await _search(merchant, given, arrived, indicators)
    except KeysUnreachableError as unreachable:
        raise AssertionRefused(str(unreachable)) from None
    endpoints = merchant.shape.endpoints
    told = recognised.client.token_endpoint or endpoints.token_endpoint
    addresses = {endpoints.issuer, endpoints.token_endpoint, told}
    audiences = frozenset(address.rstrip("/") for address in addresses)
    check_claims(recognised.verified.claims, audiences=audiences, clock=merchant.clock)
    return recognised


def _texts(claim: object) -> list[str]:
    values = claim if isinstance(claim, list) else [claim]
    return [value for value in values if isinstance(value, str)]


def _named(merchant: Merchant, given: Presented, claims: Iterable[str]) -> Client | None:
    found = (merchant.clients.find(given.claims.get(claim)) for claim in claims)
    return next((client for client in found if client is not None), None)


async def _signed_by(merchant: Merchant, given: Presented, client: Client, arrived: float) -> Recognised:
    if client.jwks_uri is None:
        raise AssertionRefused("this client has no JWKS yet")
    proof = verified(given, await merchant.key_sets.known(client.jwks_uri))
    if proof is None:
        proof = verified(given, await merchant.key_sets.fresh(client.jwks_uri, since=arrived))
    if proof is None:
        raise AssertionRefused("no key of this client's JWKS verifies it")
    return Recognised(client=client, verified=proof)


async def _search(
    merchant: Merchant, given: Presented, arrived: float, indicators: frozenset[str]
) -> Recognised:
    """Tries the clients with the requested indicator, then the others, newest first."""
    clients = [client for client in merchant.clients.newest_first() if client.jwks_uri is not None]
    for asked_for in (True, False):
        group = [client for client in clients if (client.indicator in indicators) is asked_for]
        found = await _signed_by_one_of(merchant, given, group, arrived)
        if found is not None:
            return found
    raise AssertionRefused("no registered client's JWKS verifies it")


async def _signed_by_one_of(
    merchant: Merchant, given: Presented, clients: list[Client], arrived: float
) -> Recognised | None:
    """Tries the cached key sets first, because fetching many sets is slow."""
    for client in clients:
        proof = verified(given, merchant.key_sets.kept(client.jwks_uri or ""))
        if proof is not None:
            return Recognised(client=client, verified=proof)
    for client in clients[:SEARCH]:
        try:
            return await _signed_by(merchant, given, client, arrived)
        except (AssertionRefused, KeysUnreachableError):
            continue
    return None
