"""Dynamic client registration (RFC 7591)."""

from starlette.requests import Request
from starlette.responses import JSONResponse

from .. import web
from ..agents import AUTH_METHOD, RegistrationError
from ..services import Services


class Endpoint:
    def __init__(self, services: Services) -> None:
        self._services = services

    async def register(self, request: Request) -> JSONResponse:
        try:
            agent, secret = self._services.agents.register(await web.read_json(request))
        except web.BadBody as error:
            raise web.ApiError(400, "invalid_client_metadata", str(error)) from None
        except RegistrationError as error:
            raise web.ApiError(400, error.code, error.description) from None
        return JSONResponse(
            {
                "client_id": agent.id,
                "client_secret": secret,
                "client_secret_expires_at": 0,
                "client_id_issued_at": int(self._services.clock.now()),
                "client_name": agent.name,
                "redirect_uris": list(agent.redirect_uris),
                "grant_types": list(agent.grant_types),
                "response_types": ["code"],
                "token_endpoint_auth_method": AUTH_METHOD,
                "verification_method": "none",
            },
            201,
            web.NOT_STORED,
        )
