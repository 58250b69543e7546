"""Redemption: a backend trades its user's gateway access token for the merchant token."""

import datetime

from starlette.requests import Request
from starlette.responses import JSONResponse

from .. import web
from ..grants import Grant
from ..projects import ProxyClient, Resource
from ..services import Services
from ..tokens import REDEMPTION_SCOPE, AccessToken, InvalidToken
from ..vault import MerchantToken, MerchantUnavailable, NoMerchantToken, Place, ReauthenticationRequired


class Endpoint:
    def __init__(self, services: Services) -> None:
        self._services = services

    async def redeem(self, request: Request) -> JSONResponse:
        authorization = web.single_header(request, "authorization")
        proxy_token = web.single_header(request, "x-proxy-token")
        if authorization is None or proxy_token is None:
            raise web.ApiError(400, "invalid_request", "Authorization and X-Proxy-Token are required, once each")
        client = self._proxy_client(proxy_token)
        access_token = self._access_token(authorization)
        grant = self._services.grants.find(access_token.grant_id)
        if grant is None or access_token.project_id != client.project_id:
            raise web.ApiError(401, "invalid_token", "the access token was revoked, or is of another Project")
        resource = self._resource(client, access_token, await self._indicator(request))
        token = await self._merchant_token(grant, resource)
        self._proxy_client(proxy_token)  # it may have been revoked while the merchant was asked
        return JSONResponse(_answer(token), headers=web.NOT_STORED)

    def _proxy_client(self, proxy_token: str) -> ProxyClient:
        client = self._services.projects.proxy_client_of(proxy_token)
        if client is None:
            raise web.ApiError(401, "invalid_proxy_token", "the Proxy token is unknown, expired or revoked")
        return client

    def _access_token(self, authorization: str) -> AccessToken:
        challenge = {"WWW-Authenticate": 'Bearer error="invalid_token"'}
        try:
            token = self._services.tokens.verify_access_token(web.bearer_token(authorization) or "")
        except InvalidToken:
            raise web.ApiError(401, "invalid_token", "not a valid access token of this gateway", challenge) from None
        if REDEMPTION_SCOPE not in token.scopes:
            raise web.ApiError(401, "insufficient_scope", f"the access token lacks {REDEMPTION_SCOPE}", challenge)
        return token

    async def _indicator(self, request: Request) -> str:
        try:
            indicator = (await web.read_json(request)).get("resource")
        except web.BadBody as error:
            raise web.ApiError(400, "invalid_request", str(error)) from None
        if not isinstance(indicator, str) or not indicator:
            raise web.ApiError(400, "invalid_request", "resource must be the Resource indicator")
        return indicator

    def _resource(self, client: ProxyClient, access_token: AccessToken, indicator: str) -> Resource:
        resource = self._services.projects.resource_by_indicator(client.project_id, indicator)
        if resource is None or indicator not in access_token.audience:
            raise web.ApiError(404, "resource_not_found", "the access token is for no Resource with this indicator")
        return resource

    async def _merchant_token(self, grant: Grant, resource: Resource) -> MerchantToken:
        place = Place(resource.project_id, grant.sub, resource.id, grant.login)
        try:
            return await self._services.vault.redeem(place, resource)
        except NoMerchantToken:
            raise web.ApiError(404, "merchant_token_not_found", "no merchant token came with the sign-in") from None
        except ReauthenticationRequired:
            raise web.ApiError(410, "reauthentication_required", "the user has to authorize again") from None
        except MerchantUnavailable:
            raise web.ApiError(500, "merchant_unavailable", "the merchant token could not be refreshed now") from None


def _answer(token: MerchantToken) -> dict[str, object]:
    answer: dict[str, object] = {"access_token": token.access_token}
    if token.expires_at is not None:
        answer["expires_at"] = _rfc3339(token.expires_at)
    if token.scopes is not None:
        answer["scopes"] = token.scopes
    return answer


def _rfc3339(seconds: float) -> str:
    return datetime.datetime.fromtimestamp(int(seconds), datetime.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
