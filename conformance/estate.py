"""Where the Projects and Resources of a run come from."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from typing import Protocol

from conformance.claims import LeftOut, Unavailable
from conformance.parties import Project, ProxyClient, Resource
from conformance.target import actions, model
from conformance.target.control import ControlFailed, ControlPlane
from fakes.merchant.admin import MerchantAdmin

SCOPES = ("orders:read",)


class Estate(Protocol):
    """Gives out Projects and Resources; what it cannot give, it says with the need that is missing."""

    def begin(self) -> None:
        """A new check starts: what it is given differs from what it was given before."""

    def home(self) -> Project:
        """A Project that approves agents, with a Resource and a Proxy client; checks leave it as it is."""

    def another(self, agent_policy: model.AgentPolicy | None) -> Project:
        """A Project that this check was not given yet."""

    def holding(self) -> Resource:
        """A Resource in a Project that holds agents which register from now on."""

    def second_resource(self) -> Resource:
        """A Resource other than home's."""

    def indicators(self) -> frozenset[str]:
        """Every Resource indicator that is known to be in use."""

    def resource(
        self, indicator: str, project: Project | None = None, *, scopes: tuple[str, ...] = SCOPES
    ) -> Resource:
        """A new Resource with this indicator, at home or in the Project named."""

    def proxy_client_beside(self, project: Project) -> ProxyClient:
        """A Proxy client of the Project other than its first."""

    def revoked_proxy_client(self) -> ProxyClient:
        """A Proxy client that was revoked before the run."""


class ControlledEstate:
    """Makes Projects by control actions, each Resource with a client of its own at the fake merchant."""

    def __init__(
        self,
        control: ControlPlane,
        merchant: MerchantAdmin,
        endpoints: Mapping[str, str],
        ca_file: str | None,
        run_id: str,
    ) -> None:
        self._control = control
        self._merchant = merchant
        self._endpoints = dict(endpoints)
        self._ca_file = ca_file
        self._run_id = run_id
        self._home: Project | None = None
        self._second: Resource | None = None
        self._made: list[str] = []

    def begin(self) -> None:
        """Nothing to do: every Project but home is new."""

    def home(self) -> Project:
        if self._home is None:
            self._home = self.another("approve")
        return self._home

    def another(self, agent_policy: model.AgentPolicy | None) -> Project:
        project_id = actions.create_project(
            self._control, f"gateproof {self._run_id} {secrets.token_hex(3)}", agent_policy
        )
        self._made.append(project_id)
        resource = self._create(
            project_id, f"https://api.merchant.example/v1/{self._run_id}-{secrets.token_hex(6)}"
        )
        client_id, client_secret = actions.create_proxy_client(self._control, project_id)
        client = ProxyClient(id=client_id, secret=client_secret, project_id=project_id)
        return Project(id=project_id, resource=resource, proxy_client=client)

    def holding(self) -> Resource:
        project = self.another(None)
        actions.set_agent_policy(self._control, project.id, "hold")
        return project.resource

    def indicators(self) -> frozenset[str]:
        return frozenset()  # each is made up anew, and no two are near each other

    def second_resource(self) -> Resource:
        if self._second is None:
            unique = f"{self._run_id}-{secrets.token_hex(6)}"
            self._second = self._create(self.home().id, f"https://api.merchant.example/v2/{unique}")
        return self._second

    def resource(
        self, indicator: str, project: Project | None = None, *, scopes: tuple[str, ...] = SCOPES
    ) -> Resource:
        try:
            return self._create((project or self.home()).id, indicator, scopes)
        except ControlFailed as refusal:
            # An indicator in an odd form may be refused when it is configured; then nothing can be asked.
            raise LeftOut(f"no Resource with the indicator {indicator} could be made") from refusal

    def proxy_client_beside(self, project: Project) -> ProxyClient:
        client_id, client_secret = actions.create_proxy_client(self._control, project.id)
        return ProxyClient(id=client_id, secret=client_secret, project_id=project.id)

    def revoked_proxy_client(self) -> ProxyClient:
        raise Unavailable("proxy-client:revoked", "Proxy clients of a target with control start out active")

    def clean_up(self) -> None:
        """Deletes what was made, as far as the target lets it."""
        for project_id in self._made:
            actions.delete_project(self._control, project_id)
        self._made.clear()

    def _create(self, project_id: str, indicator: str, scopes: tuple[str, ...] = SCOPES) -> Resource:
        client_id = f"gateway-{secrets.token_hex(8)}"
        self._merchant.register_client(client_id, jwks_uri=None, indicator=indicator)
        merchant = {**self._endpoints, "client_id": client_id, "ca_file": self._ca_file}
        resource_id, jwks_uri = actions.create_resource(
            self._control, project_id, indicator=indicator, scopes=scopes, merchant=merchant
        )
        self._merchant.set_jwks_uri(client_id, jwks_uri)
        return Resource(
            id=resource_id,
            project_id=project_id,
            indicator=indicator,
            scopes=scopes,
            jwks_uri=jwks_uri,
            merchant_client_id=client_id,
        )


class StaticEstate:
    """Gives out the Projects of the target file, each once a check."""

    def __init__(self, projects: tuple[model.Project, ...]) -> None:
        self._projects = projects
        self._usable = [
            project
            for project in projects
            if project.agent_policy == "approve" and project.resources and _active(project) is not None
        ]
        self._resources = [
            _resource(project, found) for project in self._usable for found in project.resources
        ]
        holding = (project for project in projects if project.agent_policy == "hold" and project.resources)
        self._held = next(holding, None)
        self._given = 1

    def begin(self) -> None:
        self._given = 1

    def home(self) -> Project:
        if not self._usable:
            raise Unavailable(
                "project", "the target file has no approving Project with a Resource and a Proxy client"
            )
        return _project(self._usable[0])

    def another(self, agent_policy: model.AgentPolicy | None) -> Project:
        if agent_policy != "approve":
            raise Unavailable(
                "control:create_project", "a new Project needs the control action create_project"
            )
        if self._given >= len(self._usable):
            raise Unavailable(
                "two-projects", "the target file has no further Project with a Resource and a Proxy client"
            )
        self._given += 1
        return _project(self._usable[self._given - 1])

    def holding(self) -> Resource:
        if self._held is None:
            raise Unavailable("project:hold", "the target file has no holding Project with a Resource")
        return _resource(self._held, self._held.resources[0])

    def indicators(self) -> frozenset[str]:
        return frozenset(resource.indicator for project in self._projects for resource in project.resources)

    def second_resource(self) -> Resource:
        if len(self._resources) < 2:
            raise Unavailable("resources:2", "the target file has one Resource only")
        return self._resources[1]

    def resource(
        self, indicator: str, project: Project | None = None, *, scopes: tuple[str, ...] = SCOPES
    ) -> Resource:
        del project, scopes
        raise Unavailable(
            "control:create_resource", f"a Resource for {indicator} needs the action create_resource"
        )

    def proxy_client_beside(self, project: Project) -> ProxyClient:
        listed = next(found for found in self._projects if found.id == project.id)
        active = [client for client in listed.proxy_clients if client.state == "active"]
        if len(active) < 2:
            raise Unavailable("proxy-clients:2", f"Project {project.id} has one active Proxy client only")
        return ProxyClient(id=active[1].id, secret=active[1].secret, project_id=project.id)

    def revoked_proxy_client(self) -> ProxyClient:
        for project in self._projects:
            for client in project.proxy_clients:
                if client.state == "revoked":
                    return ProxyClient(id=client.id, secret=client.secret, project_id=project.id)
        raise Unavailable("proxy-client:revoked", "the target file has no revoked Proxy client")


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
