"""The merchant API, as far as this service uses it."""

from __future__ import annotations

import logging

import httpx
from pydantic import BaseModel, ValidationError

from .errors import AccessRefused, BackendError
from .http import request
from .logs import log
from .settings import Settings


class Order(BaseModel):
    id: str
    item: str = ""


class Orders(BaseModel):
    """What an agent gets to see: these members and nothing else of the merchant's answer."""

    orders: list[Order]


class Merchant:
    def __init__(self, client: httpx.AsyncClient, settings: Settings) -> None:
        self._client = client
        self._url = settings.orders_url

    async def orders(self, merchant_token: str) -> Orders:
        answer = await request(
            self._client,
            "merchant",
            "GET",
            self._url,
            headers={"Authorization": f"Bearer {merchant_token}", "Accept": "application/json"},
        )
        if answer.status in (401, 403):
            log(logging.WARNING, "merchant_refused", status=answer.status)
            raise AccessRefused
        if answer.status != 200:
            log(logging.WARNING, "merchant_failed", status=answer.status)
            raise BackendError
        try:
            return Orders.model_validate_json(answer.body)
        except ValidationError as error:
            log(logging.ERROR, "merchant_unreadable", problems=error.error_count())
            raise BackendError from None
