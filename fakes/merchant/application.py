"""The merchant's endpoints as one ASGI application; every request is recorded in the journal."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from typing import TypeAlias

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from gateproof.doubles.endpoints import Endpoints
from gateproof.fakes.merchant.answers import json_answer
from gateproof.fakes.merchant.documents import discovery, discovery_paths
from gateproof.fakes.merchant.merchant import Merchant
from gateproof.fakes.merchant.merchant_api import orders, userinfo
from gateproof.fakes.merchant.records import JournalEntry
from gateproof.fakes.merchant.shape import path_of
from gateproof.fakes.merchant.sign_in import authorize, show_form, submit_form
from gateproof.fakes.merchant.token_endpoint import token_endpoint
from gateproof.fakes.serving import Reset

Handler: TypeAlias = Callable[[Merchant, Request, JournalEntry], Awaitable[Response]]
log = logging.getLogger("gateproof.fakes.merchant")


def application(merchant: Merchant) -> Endpoints:
    """Routes for the endpoints, at the paths that the seed selects."""
    places = merchant.shape.endpoints
    table: list[tuple[str, str, list[str], Handler]] = [
        ("authorization", places.authorization_endpoint, ["GET", "POST"], authorize),
        ("sign_in", places.sign_in, ["GET"], show_form),
        ("sign_in", places.sign_in, ["POST"], submit_form),
        ("token", places.token_endpoint, ["POST"], token_endpoint),
        ("userinfo", places.userinfo_endpoint, ["GET", "POST"], userinfo),
        ("jwks", places.jwks_uri, ["GET"], _fixed(merchant.signer.public_keys(merchant.shape))),
        ("orders", f"{places.api_url}/orders", ["GET"], orders),
    ]
    table += [("discovery", path, ["GET"], _described) for path in discovery_paths(places.issuer)]
    routes = [
        Route(path_of(url), _journaled(merchant, name, handler), methods=methods)
        for name, url, methods, handler in table
    ]
    return Endpoints(routes)


async def _described(merchant: Merchant, _request: Request, _entry: JournalEntry) -> Response:
    return json_answer(merchant.shape, {**discovery(merchant.shape), **merchant.lies.discovery})


def _fixed(document: dict[str, object]) -> Handler:
    async def answer(merchant: Merchant, _request: Request, _entry: JournalEntry) -> Response:
        return json_answer(merchant.shape, document)

    return answer


def _journaled(
    merchant: Merchant, endpoint: str, handler: Handler
) -> Callable[[Request], Awaitable[Response]]:
    """Records the request on arrival, and completes the entry when it is answered."""

    async def handle(request: Request) -> Response:
        entry = merchant.ledger.received(endpoint)
        try:
            answer = await handler(merchant, request, entry)
        except Exception as error:
            # So that the journal shows that this is an error of the fake merchant, not of the target.
            entry.status, entry.error = 500, f"fault of the fake merchant: {type(error).__name__}"
            raise
        entry.status = None if isinstance(answer, Reset) else answer.status_code
        log.info(
            "%s grant=%s client=%s outcome=%s status=%s",
            endpoint,
            entry.grant,
            entry.client_id,
            entry.outcome,
            entry.status,
        )
        return answer

    return handle
