"""The routes of the gateway's addresses."""

from collections.abc import Iterable

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from . import middleware, web
from .endpoints import authorize, discovery, redemption, registration, token
from .endpoints import control as control_endpoint
from .services import Services


def api(services: Services) -> list[BaseRoute]:
    authorize_endpoints, documents = authorize.Endpoints(services), discovery.Endpoints(services)
    return [
        Route("/api/register", registration.Endpoint(services).register, methods=["POST"]),
        Route("/api/credentials/token", redemption.Endpoint(services).redeem, methods=["POST"]),
        Route("/{resource_id}/.well-known/openid-configuration", documents.configuration),
        Route("/{resource_id}/jwks", documents.resource_keys),
        Route("/{resource_id}/oauth2/auth", authorize_endpoints.begin),
        Route("/{resource_id}/oauth2/callback", authorize_endpoints.signed_in),
        Route("/{resource_id}/oauth2/answer", authorize_endpoints.answered, methods=["POST"]),
    ]


def core(services: Services) -> list[BaseRoute]:
    return [
        Route("/oauth2/token", token.Endpoint(services).token, methods=["POST"]),
        Route("/jwks", discovery.Endpoints(services).core_keys),
    ]


def control(services: Services, path: str) -> list[BaseRoute]:
    return [Route(path, control_endpoint.Endpoint(services).act, methods=["POST"])]


def joined(parts: Iterable[list[BaseRoute]]) -> Starlette:
    app = Starlette(
        routes=[route for part in parts for route in part],
        middleware=[Middleware(middleware.Outermost)],
        exception_handlers={
            HTTPException: web.http_error,
            web.ApiError: web.api_error,
            ClientDisconnect: _nobody_there,
        },
    )
    app.router.redirect_slashes = False
    return app


async def _nobody_there(_: Request, __: Exception) -> Response:
    return Response(status_code=400)
