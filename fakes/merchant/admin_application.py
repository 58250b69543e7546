"""The admin API: each action is a POST with JSON in and out, protected by the admin token."""

from __future__ import annotations

import hmac
import inspect
import json
from collections.abc import Callable
from typing import Any, TypeAlias

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from gateproof.doubles.endpoints import Endpoints
from gateproof.fakes.merchant.clients import Client
from gateproof.fakes.merchant.config import ConfigError, parse_seconds, parse_user
from gateproof.fakes.merchant.extra_listeners import ExtraListeners, ListenerError
from gateproof.fakes.merchant.lies import LieError
from gateproof.fakes.merchant.merchant import Merchant
from gateproof.fakes.merchant.more_merchants import MoreMerchants, NoMoreError
from gateproof.fakes.merchant.outcomes import PARAMETERS
from gateproof.fakes.merchant.records import Kind
from gateproof.fakes.merchant.script import ScriptError, parse_script

Action: TypeAlias = Callable[..., Any]


class AdminRefused(ValueError):
    """The action is invalid; the text says why."""


def admin_application(
    merchant: Merchant,
    token: str,
    listeners: ExtraListeners | None = None,
    more: MoreMerchants | None = None,
) -> Endpoints:
    """Serves the actions of one merchant; the first merchant also opens listeners and more merchants."""
    # Their signatures once, because inspecting them takes longer than most actions.
    actions = {
        action.__name__: (action, inspect.signature(action)) for action in _actions(merchant, listeners, more)
    }

    async def handle(request: Request) -> Response:
        given = request.headers.get("authorization", "").encode()
        if not hmac.compare_digest(given, f"Bearer {token}".encode()):
            return JSONResponse({"error": "the admin token is missing or wrong"}, 401)
        action, signature = actions.get(request.path_params["action"], (None, None))
        if action is None or signature is None:
            return JSONResponse({"error": f"unknown action; there are {', '.join(sorted(actions))}"}, 404)
        try:
            arguments = json.loads(await request.body() or b"{}")
        except ValueError:
            return JSONResponse({"error": "the body is not JSON"}, 400)
        try:
            done = action(**_accepted(action.__name__, signature, arguments))
            said = json.dumps(await done if inspect.isawaitable(done) else done)
        except (AdminRefused, ConfigError, LieError, ListenerError, NoMoreError, ScriptError) as refused:
            return JSONResponse({"error": str(refused)}, 400)
        # JSON in ASCII, because text from a target can contain a lone surrogate.
        return Response(said, media_type="application/json")

    return Endpoints([Route("/{action}", handle, methods=["POST"])])


def _accepted(name: str, signature: inspect.Signature, arguments: object) -> dict[str, Any]:
    """Refuses arguments that the action does not have, before it is called."""
    if not isinstance(arguments, dict):
        raise AdminRefused("the body is not a JSON object")
    try:
        signature.bind(**arguments)
    except TypeError as error:
        raise AdminRefused(f"{name}: {error}") from None
    return arguments


def _actions(
    merchant: Merchant, listeners: ExtraListeners | None, more: MoreMerchants | None
) -> list[Action]:
    return [
        *_about_clients(merchant),
        *_about_the_world(merchant),
        *(_about_listeners(listeners) if listeners is not None else []),
        *(_about_more_merchants(more) if more is not None else []),
        *_questions(merchant),
    ]


def _about_clients(merchant: Merchant) -> list[Action]:
    """Clients and their scripts."""

    def register_client(
        client_id: str,
        jwks_uri: str | None = None,
        indicator: str | None = None,
        token_endpoint: str | None = None,
    ) -> Any:
        client = Client(
            client_id=_text("client_id", client_id),
            jwks_uri=_text_or_none("jwks_uri", jwks_uri),
            indicator=_text_or_none("indicator", indicator),
            token_endpoint=_text_or_none("token_endpoint", token_endpoint),
        )
        merchant.clients.register(client)
        if client.jwks_uri is not None:
            merchant.key_sets.warm(client.jwks_uri)
        return {}

    def set_jwks_uri(client_id: str, jwks_uri: str) -> Any:
        if not merchant.clients.set_jwks_uri(_text("client_id", client_id), _text("jwks_uri", jwks_uri)):
            raise AdminRefused(f"no client {client_id!r}")
        merchant.key_sets.warm(jwks_uri)
        return {}

    def trust(base_url: str) -> Any:
        merchant.clients.trust(_text("base_url", base_url))
        return {}

    def script(client_id: str, script: dict[str, Any], login: str | None = None) -> Any:
        if merchant.clients.find(client_id) is None:
            raise AdminRefused(f"no client {client_id!r}")
        if not isinstance(script, dict):
            raise AdminRefused("script: expected an object")
        merchant.clients.follow(client_id, _text_or_none("login", login), parse_script(script, PARAMETERS))
        return {}

    return [register_client, set_jwks_uri, trust, script]


def _about_the_world(merchant: Merchant) -> list[Action]:
    """Users, their orders, gates and the clock."""

    def release(gate: str) -> Any:
        return merchant.gates.release(_text("gate", gate))

    def orders(login: str) -> Any:
        return merchant.accounts.orders(_text("login", login))

    def add_user(name: str, login: str, password: str) -> Any:
        merchant.accounts.add(parse_user("user", {"name": name, "login": login, "password": password}))
        return {}

    def set_clock_offset(seconds: float) -> Any:
        merchant.clock.ahead_s = parse_seconds("seconds", seconds)
        return {}

    def lie(**told: Any) -> Any:
        merchant.lies.become(told)
        return {}

    return [release, orders, add_user, set_clock_offset, lie]


def _about_listeners(listeners: ExtraListeners) -> list[Action]:
    """More addresses of the token endpoint."""

    async def open_listener() -> Any:
        return await listeners.open()

    async def switch_listener(listener: str, state: str) -> Any:
        return await listeners.switch(_text("listener", listener), _text("state", state))

    def connections(listener: str) -> Any:
        return listeners.connections(_text("listener", listener))

    def close_listener(listener: str) -> Any:
        listeners.close(_text("listener", listener))
        return {}

    return [open_listener, switch_listener, connections, close_listener]


def _about_more_merchants(more: MoreMerchants) -> list[Action]:
    """Merchants beside this one."""

    async def open_merchant(seed: int) -> Any:
        return await more.open(_whole("seed", seed))

    def close_merchant(admin_url: str) -> Any:
        more.close(_text("admin_url", admin_url))
        return {}

    return [open_merchant, close_merchant]


def _questions(merchant: Merchant) -> list[Action]:
    """The actions that only read."""

    def journal(client_id: str | None = None, after: int = 0) -> Any:
        entries, lost = merchant.ledger.journal(client_id=client_id, after=_whole("after", after))
        return {"entries": [entry.to_json() for entry in entries], "lost": lost}

    def tokens(kind: Kind | None = None, after: int = 0) -> Any:
        minted, lost = merchant.ledger.tokens(kind=kind, after=_whole("after", after))
        return {"tokens": [token.to_json() for token in minted], "lost": lost}

    def last_minted() -> Any:
        return merchant.ledger.last_minted

    def last_received() -> Any:
        return merchant.ledger.last_received

    def lookup(token: str) -> Any:
        found = merchant.ledger.find(_text("token", token))
        if found is None:
            return None
        shown = ("kind", "login", "actor", "client_id", "expires_at")
        return {**{name: getattr(found, name) for name in shown}, "active": merchant.ledger.is_active(found)}

    def fired(client_id: str | None = None) -> Any:
        return merchant.ledger.fired(client_id)

    def arrived(gate: str) -> Any:
        return merchant.gates.arrived(_text("gate", gate))

    def dropped() -> Any:
        return merchant.ledger.dropped()

    return [journal, tokens, last_minted, last_received, lookup, fired, arrived, dropped]


def _text(key: str, value: object) -> str:
    if not isinstance(value, str) or not value:
        raise AdminRefused(f"{key}: expected a string")
    return value


def _text_or_none(key: str, value: object) -> str | None:
    return None if value is None else _text(key, value)


def _whole(key: str, value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise AdminRefused(f"{key}: expected a whole number")
    return value
