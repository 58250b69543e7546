"""The source of a run's Projects and Resources."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Protocol

from gateproof.conformance.kit.gateway.merchant_site import MerchantSite
from gateproof.conformance.kit.gateway.shared_projects import SharedProjects
from gateproof.conformance.suite.claims import LeftOut, Unavailable
from gateproof.conformance.suite.parties import Project, ProxyClient, Resource
from gateproof.conformance.targets import actions, model
from gateproof.conformance.targets.control import ControlFailed, ControlPlane, Refused
from gateproof.conformance.wire.route import line_to_add
from gateproof.fakes.merchant.admin import MerchantAdmin

SCOPES = ("orders:read",)


class ProjectPool(Protocol):
    """Provides Projects and Resources; raises Unavailable with the missing need if it cannot."""

    def begin(self) -> None:
        """Marks the start of a new check: it may get Projects that earlier checks got."""

    def home(self) -> Project:
        """A Project that approves agents, with a Resource and a Proxy client; checks must not change it."""

    def another(self) -> Project:
        """An approving Project that this check did not get before; the check must not change it."""

    def isolating(self) -> Project:
        """An approving Project for a user whom no other check uses there; the check must not change it."""

    def is_troubled(self, project_id: str) -> None:
        """The merchant misbehaves in this Project: other checks get it no more."""

    def was_restarted(self) -> None:
        """The target was killed and started again: Projects that are shared may have lost their settings."""

    def new(self, agent_policy: model.AgentPolicy | None) -> Project:
        """A Project that the run creates; the check may change it."""

    def two_with_same_name(self) -> tuple[Project, Project]:
        """Two Projects that the run creates with the same name; checks must not change them."""

    def holding(self) -> Resource:
        """A Resource in a Project that holds agents which register from now on (state Pending)."""

    def two_holding(self) -> tuple[Resource, Resource]:
        """Resources of two Projects that hold agents which register from now on."""

    def second_resource(self) -> Resource:
        """A Resource other than that of the home Project."""

    def indicators(self) -> frozenset[str]:
        """Every Resource indicator that is known to be in use."""

    def resource(
        self,
        indicator: str,
        project: Project | None = None,
        *,
        scopes: tuple[str, ...] = SCOPES,
        token_endpoint: str | None = None,
    ) -> Resource:
        """A new Resource with this indicator, in the home Project or in the given one.

        A token endpoint replaces the one that the merchant announces.
        """

    def project_at(self, site: MerchantSite, client_id: str, beside: Project | None) -> Project:
        """A Project with a Resource at this merchant; the gateway has this client ID there.

        The Project is new, or it is the given one, which gets this Resource as another one.
        """

    def second_proxy_client(self, project: Project) -> ProxyClient:
        """A second Proxy client of the Project; checks must not change it."""

    def new_proxy_client(self, project: Project) -> ProxyClient:
        """A Proxy client that the run creates in the Project; the check may revoke it."""

    def with_new_client(self) -> tuple[Project, ProxyClient]:
        """A Project that other checks use, and a new Proxy client in it, which the check may revoke."""

    def created_by_run(self, name: str) -> bool:
        """True if the run has created this Project or Proxy client: checks may change no others."""

    def gone(self, client: ProxyClient) -> None:
        """The Proxy client was revoked: clean_up() skips it."""

    def revoked_proxy_client(self) -> ProxyClient:
        """A Proxy client that was revoked before the run."""

    def clean_up(self) -> None:
        """Deletes what the run created, as far as the target allows."""


class ControlledProjects:
    """Creates Projects by control actions; each Resource has its own client at the fake merchant."""

    def __init__(
        self,
        control: ControlPlane,
        merchant: MerchantAdmin,
        endpoints: Mapping[str, str],
        ca_file: str | None,
        run_id: str,
        *,
        may_reach: Callable[[str], bool] = lambda _: True,
        only_given_users: bool = False,
    ) -> None:
        self._control = control
        self._may_reach = may_reach
        self._merchant = merchant
        self._endpoints = dict(endpoints)
        self._ca_file = ca_file
        self._run_id = run_id
        self._home: Project | None = None
        self._second: Resource | None = None
        self._made: list[str] = []
        self._clients: set[str] = set()
        self._only_given_users = only_given_users
        self._shared = self._new_shared()

    def begin(self) -> None:
        self._shared.begin()

    def was_restarted(self) -> None:
        self._shared = self._new_shared()

    def home(self) -> Project:
        if self._home is None:
            self._home = self.new("approve")
        return self._home

    def another(self) -> Project:
        return self._shared.another()

    def isolating(self) -> Project:
        return self._shared.isolating()

    def only_given_users(self) -> bool:
        """True if isolated users have to be those of the target file, in a new Project each time."""
        return self._only_given_users

    def is_troubled(self, project_id: str) -> None:
        self._shared.is_troubled(project_id)

    def new(self, agent_policy: model.AgentPolicy | None) -> Project:
        return self._new_in(self._new_id(agent_policy))

    def two_with_same_name(self) -> tuple[Project, Project]:
        name = self._new_name()
        one = self._new_in(self._new_id("approve", name))
        try:
            other = self._new_id("approve", name)
        except ControlFailed as refusal:
            raise LeftOut(
                f"the target accepts no two Projects with the same name: {refusal.what}"
            ) from refusal
        if other == one.id:
            raise LeftOut("the target has one Project for each name")
        return one, self._new_in(other)

    def _new_in(self, project_id: str) -> Project:
        resource = self._create(project_id, self._indicator())
        return Project(id=project_id, resource=resource, proxy_client=self._client_in(project_id))

    def holding(self) -> Resource:
        return self._shared.held(1)[0]

    def two_holding(self) -> tuple[Resource, Resource]:
        one, other = self._shared.held(2)
        return one, other

    def _new_shared(self) -> SharedProjects:
        return SharedProjects(lambda: self.new("approve"), self._new_holding)

    def _new_holding(self) -> Project:
        project = self.new(None)
        actions.set_agent_policy(self._control, project.id, "hold")
        return project

    def indicators(self) -> frozenset[str]:
        return frozenset()  # each one is random, so no two are similar

    def second_resource(self) -> Resource:
        if self._second is None:
            unique = f"{self._run_id}-{secrets.token_hex(6)}"
            self._second = self._create(self.home().id, f"https://api.merchant.example/v2/{unique}")
        return self._second

    def resource(
        self,
        indicator: str,
        project: Project | None = None,
        *,
        scopes: tuple[str, ...] = SCOPES,
        token_endpoint: str | None = None,
    ) -> Resource:
        try:
            return self._create((project or self.home()).id, indicator, scopes, token_endpoint)
        except ControlFailed as refusal:
            # The target may refuse an unusual indicator when it is configured; then the rule cannot be
            # tested.
            raise LeftOut(f"no Resource with the indicator {indicator} could be made") from refusal

    def project_at(self, site: MerchantSite, client_id: str, beside: Project | None) -> Project:
        project_id = beside.id if beside is not None else self._new_id("approve")
        try:
            resource = self._create(project_id, self._indicator(), site=site, client_id=client_id)
        except Refused as refusal:
            raise LeftOut(f"the target accepts no Resource at another merchant: {refusal.why}") from refusal
        proxy_client = beside.proxy_client if beside is not None else self._client_in(project_id)
        return Project(id=project_id, resource=resource, proxy_client=proxy_client)

    def second_proxy_client(self, project: Project) -> ProxyClient:
        return self._client_in(project.id)

    def new_proxy_client(self, project: Project) -> ProxyClient:
        return self._client_in(project.id)

    def with_new_client(self) -> tuple[Project, ProxyClient]:
        project = self._shared.for_clients(anew=False)
        try:
            return project, self._client_in(project.id)
        except ControlFailed:
            # The target may limit the number of Proxy clients in a Project.
            project = self._shared.for_clients(anew=True)
            return project, self._client_in(project.id)

    def created_by_run(self, name: str) -> bool:
        return name in self._made or name in self._clients

    def gone(self, client: ProxyClient) -> None:
        """Nothing to do: it is deleted with its Project."""

    def revoked_proxy_client(self) -> ProxyClient:
        raise Unavailable("proxy-client:revoked", "Proxy clients of a target with control start out active")

    def _client_in(self, project_id: str) -> ProxyClient:
        client = made_proxy_client(self._control, project_id)
        self._clients.add(client.id)
        return client

    def clean_up(self) -> None:
        # If one is already deleted, the others still have to be deleted.
        for project_id in self._made:
            with suppress(ControlFailed):
                actions.delete_project(self._control, project_id)
        self._made.clear()

    def _new_name(self) -> str:
        return f"gateproof {self._run_id} {secrets.token_hex(3)}"

    def _new_id(self, agent_policy: model.AgentPolicy | None, name: str | None = None) -> str:
        project_id = actions.create_project(self._control, name or self._new_name(), agent_policy)
        self._made.append(project_id)
        return project_id

    def _indicator(self) -> str:
        return f"https://api.merchant.example/v1/{self._run_id}-{secrets.token_hex(6)}"

    def _create(
        self,
        project_id: str,
        indicator: str,
        scopes: tuple[str, ...] = SCOPES,
        token_endpoint: str | None = None,
        *,
        site: MerchantSite | None = None,
        client_id: str | None = None,
    ) -> Resource:
        client_id = client_id or f"gateway-{secrets.token_hex(8)}"
        admin = site.admin if site is not None else self._merchant
        endpoints = site.endpoints if site is not None else self._endpoints
        admin.register_client(client_id, indicator=indicator, token_endpoint=token_endpoint)
        merchant = {**endpoints, "client_id": client_id, "ca_file": self._ca_file}
        if token_endpoint is not None:
            merchant["token_endpoint"] = token_endpoint
        resource_id, jwks_uri = actions.create_resource(
            self._control, project_id, indicator=indicator, scopes=scopes, merchant=merchant
        )
        if not self._may_reach(jwks_uri):
            # The merchant would fetch it.
            raise Unavailable(
                "address",
                f"{jwks_uri} is on a host that the target file does not name; {line_to_add(jwks_uri)}",
            )
        admin.set_jwks_uri(client_id, jwks_uri)
        return Resource(
            id=resource_id,
            project_id=project_id,
            indicator=indicator,
            scopes=scopes,
            jwks_uri=jwks_uri,
            merchant_client_id=client_id,
        )


def made_proxy_client(control: ControlPlane, project_id: str) -> ProxyClient:
    """Creates a Proxy client with the control API."""
    client_id, client_secret = actions.create_proxy_client(control, project_id)
    return ProxyClient(id=client_id, secret=client_secret, project_id=project_id)
