"""Projects that an operator created by hand."""

from __future__ import annotations

from contextlib import suppress

from gateproof.conformance.kit.gateway.merchant_site import MerchantSite
from gateproof.conformance.kit.gateway.project_pool import SCOPES, made_proxy_client
from gateproof.conformance.suite.claims import Unavailable
from gateproof.conformance.suite.parties import Project, ProxyClient, Resource
from gateproof.conformance.targets import actions, model
from gateproof.conformance.targets.control import ControlFailed, ControlPlane, Unsupported

NOT_MADE = "a new Project needs the control actions create_project, create_resource and create_proxy_client"


class StaticProjects:
    """Provides the Projects of the target file, each at most once in a check.

    If there is a control API nevertheless, it may create Proxy clients in them.
    """

    def __init__(self, projects: tuple[model.Project, ...], control: ControlPlane | None = None) -> None:
        self._projects = projects
        self._control = control
        self._own: dict[str, str] = {}
        self._usable = [
            project
            for project in projects
            if project.agent_policy == "approve" and project.resources and _active(project) is not None
        ]
        self._resources = [
            _resource(project, found) for project in self._usable for found in project.resources
        ]
        self._held = [each for each in projects if each.agent_policy == "hold" and each.resources]
        self._given = 1

    def begin(self) -> None:
        self._given = 1

    def home(self) -> Project:
        if not self._usable:
            raise Unavailable(
                "project", "the target file has no approving Project with a Resource and a Proxy client"
            )
        return _project(self._usable[0])

    def isolating(self) -> Project:
        return self.home()

    def is_troubled(self, project_id: str) -> None:
        """Nothing to do: isolated users have no other Project."""

    def was_restarted(self) -> None:
        """Nothing to do: there are no other Projects."""

    def new(self, agent_policy: model.AgentPolicy | None) -> Project:
        del agent_policy
        raise Unavailable("control:create_project", NOT_MADE)

    def two_with_same_name(self) -> tuple[Project, Project]:
        raise Unavailable("control:create_project", NOT_MADE)

    def another(self) -> Project:
        if self._given >= len(self._usable):
            raise Unavailable(
                "two-projects", "the target file has no further Project with a Resource and a Proxy client"
            )
        self._given += 1
        return _project(self._usable[self._given - 1])

    def holding(self) -> Resource:
        if not self._held:
            raise Unavailable("project:hold", "the target file has no holding Project with a Resource")
        return _resource(self._held[0], self._held[0].resources[0])

    def two_holding(self) -> tuple[Resource, Resource]:
        if len(self._held) < 2:
            raise Unavailable(
                "two-holding-projects", "the target file has no two holding Projects with a Resource each"
            )
        one, other = (_resource(project, project.resources[0]) for project in self._held[:2])
        return one, other

    def indicators(self) -> frozenset[str]:
        return frozenset(resource.indicator for project in self._projects for resource in project.resources)

    def second_resource(self) -> Resource:
        if len(self._resources) < 2:
            raise Unavailable("resources:2", "the target file has one Resource only")
        return self._resources[1]

    def resource(
        self,
        indicator: str,
        project: Project | None = None,
        *,
        scopes: tuple[str, ...] = SCOPES,
        token_endpoint: str | None = None,
    ) -> Resource:
        del project, scopes, token_endpoint
        raise Unavailable(
            "control:create_resource", f"a Resource for {indicator} needs the action create_resource"
        )

    def project_at(self, site: MerchantSite, client_id: str, beside: Project | None) -> Project:
        del site, client_id, beside
        raise Unavailable(
            "control:create_resource", "a Resource at another merchant needs the action create_resource"
        )

    def second_proxy_client(self, project: Project) -> ProxyClient:
        listed = next(found for found in self._projects if found.id == project.id)
        active = [client for client in listed.proxy_clients if client.state == "active"]
        if len(active) < 2:
            return self.new_proxy_client(project)
        return ProxyClient(id=active[1].id, secret=active[1].secret, project_id=project.id)

    def new_proxy_client(self, project: Project) -> ProxyClient:
        lacking = Unavailable(
            "control:create_proxy_client",
            f"another Proxy client in Project {project.id} needs the control action create_proxy_client",
        )
        if self._control is None:
            raise lacking
        try:
            client = made_proxy_client(self._control, project.id)
        except Unsupported as unsupported:
            raise lacking from unsupported
        self._own[client.id] = project.id
        return client

    def with_new_client(self) -> tuple[Project, ProxyClient]:
        project = self.home()
        return project, self.new_proxy_client(project)

    def created_by_run(self, name: str) -> bool:
        return name in self._own

    def gone(self, client: ProxyClient) -> None:
        del self._own[client.id]

    def revoked_proxy_client(self) -> ProxyClient:
        for project in self._projects:
            for client in project.proxy_clients:
                if client.state == "revoked":
                    return ProxyClient(id=client.id, secret=client.secret, project_id=project.id)
        raise Unavailable("proxy-client:revoked", "the target file has no revoked Proxy client")

    def clean_up(self) -> None:
        if self._control is not None:
            for client_id, project_id in list(self._own.items()):
                with suppress(ControlFailed, Unsupported):
                    actions.revoke_proxy_client(self._control, project_id, client_id)
                    del self._own[client_id]


def _active(project: model.Project) -> model.ProxyClientRef | None:
    return next((client for client in project.proxy_clients if client.state == "active"), None)


def _project(project: model.Project) -> Project:
    client = _active(project)
    if client is None:
        raise Unavailable("proxy-client", f"Project {project.id} has no active Proxy client")
    return Project(
        id=project.id,
        resource=_resource(project, project.resources[0]),
        proxy_client=ProxyClient(id=client.id, secret=client.secret, project_id=project.id),
    )


def _resource(project: model.Project, resource: model.Resource) -> Resource:
    return Resource(
        id=resource.id,
        project_id=project.id,
        indicator=resource.indicator,
        scopes=resource.scopes,
        jwks_uri=resource.jwks_uri,
        merchant_client_id=resource.merchant_client_id,
    )
