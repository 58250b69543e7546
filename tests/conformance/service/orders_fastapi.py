"""An operator's service on FastAPI, with PyJWT and httpx: written the way their manuals show.

It is configured by the variables that a launched service gets. It needs the environment of `make services`.
"""

from __future__ import annotations

import asyncio
import os
import ssl
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Annotated, Any
from urllib.parse import urlsplit

import httpx
import jwt
import uvicorn
from fastapi import Depends, FastAPI, HTTPException, Request
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import JSONResponse
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer
from pydantic import BaseModel, ValidationError

ENV = {name.removeprefix("GATEPROOF_"): value for name, value in os.environ.items()}
TRUST = ssl.create_default_context(cafile=ENV["CA_FILE"])
METADATA = "/.well-known/oauth-protected-resource"
ALGORITHMS = ["ES256", "RS256"]


class Order(BaseModel):
    id: str
    item: str


class Orders(BaseModel):
    orders: list[Order]


class ProxyToken(BaseModel):
    access_token: str
    expires_in: int = 0


class Redeemed(BaseModel):
    access_token: str


class State:
    """What is learnt while the service runs."""

    http: httpx.AsyncClient
    issuer = ""
    token_endpoint = ""
    keys: jwt.PyJWKClient | None = None
    proxy_token = ""
    proxy_token_until = 0.0
    fetching = asyncio.Lock()


state = State()


@asynccontextmanager
async def lifespan(_app: FastAPI) -> AsyncIterator[None]:
    transport = httpx.AsyncHTTPTransport(verify=TRUST, retries=1)
    async with httpx.AsyncClient(transport=transport, timeout=4) as state.http:
        yield


app = FastAPI(lifespan=lifespan)
bearer = HTTPBearer(auto_error=False)


@app.exception_handler(httpx.HTTPError)
@app.exception_handler(ValidationError)
async def upstream_failed(_request: Request, _error: Exception) -> JSONResponse:
    return JSONResponse({"detail": "the orders cannot be had now"}, 502)


def unauthorized() -> HTTPException:
    pointer = f'Bearer resource_metadata="{ENV["SERVICE_URL"]}{METADATA}"'
    return HTTPException(401, "Not authenticated", {"WWW-Authenticate": pointer})


async def discovered() -> jwt.PyJWKClient:
    if state.keys is None:
        url = f"{ENV['AUTHORIZATION_SERVER']}/.well-known/openid-configuration"
        document = (await state.http.get(url)).raise_for_status().json()
        state.issuer, state.token_endpoint = document["issuer"], document["token_endpoint"]
        state.keys = jwt.PyJWKClient(document["jwks_uri"], ssl_context=TRUST, timeout=4)
    return state.keys


async def gateway_token(
    given: Annotated[HTTPAuthorizationCredentials | None, Depends(bearer)],
) -> str:
    if given is None:
        raise unauthorized()
    keys = await discovered()
    try:
        key = await run_in_threadpool(keys.get_signing_key_from_jwt, given.credentials)
        jwt.decode(
            given.credentials,
            key,
            algorithms=ALGORITHMS,
            issuer=state.issuer,
            audience=ENV["RESOURCE_INDICATOR"],
            options={"require": ["exp", "iss", "aud"]},
        )
    except jwt.PyJWTError:
        raise unauthorized() from None
    return given.credentials


async def proxy_token(refused: str = "") -> str:
    async with state.fetching:
        if state.proxy_token in ("", refused) or time.time() > state.proxy_token_until:
            await discovered()
            answer = await state.http.post(
                state.token_endpoint,
                auth=(ENV["PROXY_CLIENT_ID"], ENV["PROXY_CLIENT_SECRET"]),
                data={"grant_type": "client_credentials"},
            )
            got = ProxyToken.model_validate_json(answer.raise_for_status().text)
            state.proxy_token = got.access_token
            state.proxy_token_until = time.time() + got.expires_in - 30
        return state.proxy_token


async def redeemed(token: str) -> str:
    async def ask(proxy: str) -> httpx.Response:
        return await state.http.post(
            f"{ENV['BASE_URL']}/api/credentials/token",
            headers={"Authorization": f"Bearer {token}", "X-Proxy-Token": proxy},
            json={"resource": ENV["RESOURCE_INDICATOR"]},
        )

    proxy = await proxy_token()
    answer = await ask(proxy)
    if answer.status_code == 401:
        answer = await ask(await proxy_token(refused=proxy))
    if answer.status_code == 410:
        raise unauthorized()
    return Redeemed.model_validate_json(answer.raise_for_status().text).access_token


@app.get(METADATA)
async def metadata() -> dict[str, Any]:
    return {"resource": ENV["SERVICE_URL"], "authorization_servers": [ENV["AUTHORIZATION_SERVER"]]}


@app.post("/orders")
async def orders(token: Annotated[str, Depends(gateway_token)]) -> Orders:
    merchant_token = await redeemed(token)
    answer = await state.http.get(
        f"{ENV['MERCHANT_API_URL']}/orders", headers={"Authorization": f"Bearer {merchant_token}"}
    )
    return Orders.model_validate_json(answer.raise_for_status().text)


if __name__ == "__main__":
    own = urlsplit(ENV["SERVICE_URL"])
    uvicorn.run(
        app,
        host=own.hostname or "127.0.0.1",
        port=own.port or 443,
        ssl_certfile=ENV["TLS_CERT_FILE"],
        ssl_keyfile=ENV["TLS_KEY_FILE"],
    )
