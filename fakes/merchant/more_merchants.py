"""Additional merchants: each has its own address, issuer, keys, users and journal."""

from __future__ import annotations

import random
import ssl
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import httpx
from starlette.types import ASGIApp

from gateproof.fakes.merchant.application import application
from gateproof.fakes.merchant.config import MerchantConfig
from gateproof.fakes.merchant.merchant import Merchant, build
from gateproof.fakes.merchant.minting import Signer, new_signer
from gateproof.fakes.serving import Listener, listen

MakesAdmin = Callable[[Merchant], ASGIApp]


class NoMoreError(ValueError):
    """This merchant cannot be opened or closed; the text says why."""


class MoreMerchants:
    """Opens and closes merchants that share the first one's host, certificate and clock.

    They have no users at first, always send `iss` in their redirects, and can be made to lie. A new merchant
    takes over the keys of a closed one, with other key IDs: generating an RSA key takes longer than all
    requests that such a merchant gets.
    """

    def __init__(
        self,
        config: MerchantConfig,
        *,
        tls: ssl.SSLContext | None,
        http: httpx.AsyncClient,
        first: Merchant,
        administered: MakesAdmin,
    ) -> None:
        self._config = config
        self._tls = tls
        self._http = http
        self._first = first
        self._administered = administered
        self._listeners: dict[str, tuple[Listener, Listener]] = {}
        self._signers: dict[str, Signer] = {}
        self._spare: list[Signer] = []

    async def open(self, seed: int) -> Mapping[str, Any]:
        """A new merchant; returns its endpoints and the address of its admin API, which identifies it."""
        if self._config.public_url is not None:
            raise NoMoreError("a merchant with a public address of its own has no other beside it")
        scheme = "https" if self._tls is not None else "http"
        config = replace(self._config, seed=seed, paths="seeded", users=())
        signer = new_signer(seed, self._spare.pop() if self._spare else None)
        built: list[Merchant] = []

        def merchant_at(netloc: str) -> ASGIApp:
            merchant = build(
                config,
                base_url=f"{scheme}://{config.named(netloc)}",
                http=self._http,
                entropy=random.SystemRandom(),
                signer=signer,
                beside=self._first,
            )
            built.append(merchant)
            return application(merchant)

        public = await listen(merchant_at, host=config.address[0], port=0, tls=self._tls)
        admin = await listen(lambda _: self._administered(built[0]), host="127.0.0.1", port=0, tls=None)
        admin_url = f"http://{admin.netloc}"
        self._listeners[admin_url] = (public, admin)
        self._signers[admin_url] = signer
        return {"endpoints": built[0].shape.endpoints.announced(), "admin_url": admin_url}

    def close(self, admin_url: str) -> None:
        """Closes the merchant with this admin API."""
        if admin_url not in self._listeners:
            raise NoMoreError("no such merchant")
        for listener in self._listeners.pop(admin_url):
            listener.close()
        self._spare.append(self._signers.pop(admin_url))
