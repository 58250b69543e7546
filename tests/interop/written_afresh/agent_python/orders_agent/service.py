"""The operator's service: one operation, and the challenge where it wants a token."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from .challenge import metadata_address
from .errors import AgentError
from .web import Web


@dataclass(frozen=True)
class Challenge:
    metadata_url: str | None


class Service:
    def __init__(self, web: Web, service_url: str) -> None:
        self._web = web
        self._url = f"{service_url}/orders"

    async def orders(self, access_token: str | None) -> list[Any] | Challenge:
        headers = {"Accept": "application/json"}
        if access_token is not None:
            headers["Authorization"] = f"Bearer {access_token}"
        answer = await self._web.request("service", "GET", self._url, headers)
        if answer.status == 401:
            return Challenge(metadata_address(answer.headers.get_list("WWW-Authenticate")))
        if answer.status != 200:
            raise AgentError(f"The service does not answer with orders (status {answer.status}).")
        orders = answer.json_object().get("orders")
        if not isinstance(orders, list):
            raise AgentError("The service's answer has no orders in it.")
        return orders
