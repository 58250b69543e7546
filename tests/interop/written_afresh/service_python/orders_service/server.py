"""The MCP server with its one tool."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import httpx
from fastmcp import FastMCP
from fastmcp.exceptions import ToolError
from fastmcp.server.dependencies import get_access_token

from .auth import GatewayAuth
from .errors import BackendError
from .http import new_client
from .keys import KeySource
from .logs import log
from .merchant import Merchant, Orders
from .proxy_token import ProxyTokens
from .redemption import Redeemer
from .settings import Settings
from .tokens import TokenValidator

# However many parties are in trouble, an agent gets its answer by then.
SECONDS_A_CALL = 25.0


class OrderService:
    """Redeems the caller's token and reads the caller's orders. Keeps nothing of a user between calls."""

    def __init__(self, redeemer: Redeemer, merchant: Merchant) -> None:
        self._redeemer = redeemer
        self._merchant = merchant

    async def list_orders(self, gateway_token: str) -> Orders:
        async with asyncio.timeout(SECONDS_A_CALL):
            merchant_token = await self._redeemer.merchant_token(gateway_token)
            return await self._merchant.orders(merchant_token)


def build(settings: Settings) -> FastMCP:
    client = new_client(settings.ca_file)
    validator = TokenValidator(KeySource(client, settings.authorization_server), settings.resource_indicator)
    redeemer = Redeemer(client, settings, ProxyTokens(client, settings))
    service = OrderService(redeemer, Merchant(client, settings))
    server = FastMCP(
        "orders",
        auth=GatewayAuth(settings, validator),
        lifespan=_closing(client),
        mask_error_details=True,
    )

    @server.tool(annotations={"readOnlyHint": True})
    async def list_orders() -> Orders:
        """List the signed-in user's orders at the merchant."""
        access_token = get_access_token()
        if access_token is None:  # the guard lets nobody through without one
            raise ToolError("access_refused: There is no access token.")
        started = time.monotonic()
        outcome = "served"
        try:
            return await service.list_orders(access_token.token)
        except BackendError as error:
            outcome = error.code
            raise ToolError(f"{error.code}: {error.message}") from None
        except TimeoutError:
            outcome = BackendError.code
            raise ToolError(f"{BackendError.code}: {BackendError.message}") from None
        finally:
            log(logging.INFO, "list_orders", outcome=outcome, ms=round((time.monotonic() - started) * 1000))

    return server


def _closing(client: httpx.AsyncClient):
    @asynccontextmanager
    async def lifespan(_: FastMCP) -> AsyncIterator[None]:
        async with client:
            yield

    return lifespan
