"""Discovery documents and key sets."""

from starlette.requests import Request
from starlette.responses import JSONResponse

from .. import web
from ..keys import ALGORITHM
from ..projects import Resource
from ..services import Services
from ..tokens import REDEMPTION_SCOPE


class Endpoints:
    def __init__(self, services: Services) -> None:
        self._services = services

    def _resource(self, request: Request) -> Resource:
        resource = self._services.projects.resource(request.path_params["resource_id"])
        if resource is None:
            raise web.ApiError(404, "not_found", "there is no such Resource")
        return resource

    async def configuration(self, request: Request) -> JSONResponse:
        resource, settings = self._resource(request), self._services.settings
        return JSONResponse(
            {
                "issuer": settings.issuer,
                "authorization_endpoint": f"{settings.authorization_server(resource.id)}/oauth2/auth",
                "token_endpoint": f"{settings.core_url}/oauth2/token",
                "jwks_uri": f"{settings.core_url}/jwks",
                "registration_endpoint": f"{settings.base_url}/api/register",
                "scopes_supported": ["openid", *resource.scopes, REDEMPTION_SCOPE],
                "response_types_supported": ["code"],
                "response_modes_supported": ["query"],
                "grant_types_supported": ["authorization_code", "refresh_token"],
                "token_endpoint_auth_methods_supported": ["client_secret_post"],
                "code_challenge_methods_supported": ["S256"],
                "subject_types_supported": ["pairwise"],
                "id_token_signing_alg_values_supported": [ALGORITHM],
                "authorization_response_iss_parameter_supported": True,
            }
        )

    async def resource_keys(self, request: Request) -> JSONResponse:
        return JSONResponse({"keys": [self._resource(request).key.as_dict(private=False)]})

    async def core_keys(self, _: Request) -> JSONResponse:
        return JSONResponse(self._services.core_keys.verification_keys().as_dict(private=False))
