"""The control: what an operator does in the Console, as JSON actions for tests. Never open to others."""

import json
from sqlite3 import IntegrityError

from starlette.requests import Request
from starlette.responses import JSONResponse

from .. import logs, web
from ..projects import Merchant
from ..services import Services


class Unknown(Exception):
    """An object that the action names and that there is not."""


class Endpoint:
    def __init__(self, services: Services) -> None:
        self._services = services
        self._actions = {
            "describe": self._describe,
            "create_project": self._create_project,
            "set_agent_policy": self._set_agent_policy,
            "create_resource": self._create_resource,
            "create_proxy_client": self._create_proxy_client,
            "revoke_proxy_client": self._revoke_proxy_client,
            "approve_agent": self._approve_agent,
            "withhold_redemption_scope": self._withhold_redemption_scope,
            "advance_clock": self._advance_clock,
            "rotate_keys": self._rotate_keys,
            "logs": self._logs,
            "resource_metadata": self._resource_metadata,
        }

    async def act(self, request: Request) -> JSONResponse:
        try:
            arguments = await web.read_json(request)
            action = self._actions.get(str(arguments.pop("action", None)))
            if action is None:
                return JSONResponse({"refused": "this action is not supported"}, 501)
            return JSONResponse(action(**arguments) or {})
        except (web.BadBody, TypeError, KeyError, IntegrityError, Unknown) as error:
            return JSONResponse({"error": f"{type(error).__name__}: {error}"}, 400)

    def _describe(self) -> dict[str, object]:
        offset = self._services.clock.offset()
        return {"name": "gateway", "version": "1.0.0", "actions": list(self._actions), "clock_offset_s": offset}

    def _create_project(self, name: str, agent_policy: str = "approve") -> dict[str, object]:
        return {"project_id": self._services.projects.create(name, agent_policy)}

    def _set_agent_policy(self, project_id: str, agent_policy: str) -> None:
        _require(self._services.projects.set_agent_policy(project_id, agent_policy))

    def _create_resource(self, project_id: str, indicator: str, scopes: list[str], merchant: dict[str, str]) -> dict[str, object]:
        names = ("issuer", "authorization_endpoint", "token_endpoint", "jwks_uri", "client_id", "ca_file")
        known = Merchant(**{name: merchant[name] for name in names})
        resource_id = self._services.projects.create_resource(project_id, indicator, scopes, known)
        return {"resource_id": resource_id, "jwks_uri": self._services.settings.resource_jwks_uri(resource_id)}

    def _create_proxy_client(self, project_id: str) -> dict[str, object]:
        client_id, client_secret = self._services.projects.create_proxy_client(project_id)
        return {"client_id": client_id, "client_secret": client_secret}

    def _revoke_proxy_client(self, project_id: str, client_id: str) -> None:
        _require(self._services.projects.revoke_proxy_client(project_id, client_id))

    def _approve_agent(self, project_id: str, client_id: str) -> None:
        self._services.agents.approve(project_id, client_id)

    def _withhold_redemption_scope(self, client_id: str) -> None:
        _require(self._services.agents.withhold_redemption(client_id))

    def _advance_clock(self, seconds: float) -> None:
        self._services.clock.advance(seconds)

    def _rotate_keys(self) -> None:
        self._services.core_keys.rotate()

    def _logs(self) -> dict[str, object]:
        return {"text": logs.since_last_call(self._services.database, self._services.settings.log)}

    def _resource_metadata(self, project_id: str, resource_id: str) -> dict[str, object]:
        resource = self._services.projects.resource(resource_id)
        _require(resource is not None and resource.project_id == project_id)
        document = {
            "resource": "https://replace-with-the-address-of-your-service.example",
            "authorization_servers": [self._services.settings.authorization_server(resource_id)],
            "bearer_methods_supported": ["header"],
        }
        return {"document": json.dumps(document, indent=2)}


def _require(found: bool) -> None:
    if not found:
        raise Unknown("there is no such object")
