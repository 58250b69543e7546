"""Projects and Resources for one check; registers their names as public for its reports."""

from __future__ import annotations

from dataclasses import dataclass

from gateproof.conformance.kit.gateway.merchant_site import MerchantSite
from gateproof.conformance.kit.gateway.project_pool import SCOPES, ProjectPool
from gateproof.conformance.suite.claims import Unavailable
from gateproof.conformance.suite.parties import Agent, Project, ProxyClient, Resource
from gateproof.conformance.targets import actions
from gateproof.conformance.targets.connect import control_for
from gateproof.conformance.targets.control import ControlPlane
from gateproof.conformance.targets.model import AgentPolicy
from gateproof.conformance.wire.keyring import Keyring


@dataclass(frozen=True, kw_only=True, slots=True)
class Projects:
    """Takes Projects and Resources from the pool, and changes those that the run has made."""

    pool: ProjectPool
    keyring: Keyring
    control: ControlPlane | None

    def home(self) -> Project:
        """A Project that is shared by checks that do not change it."""
        return self._named(self.pool.home())

    def another(self) -> Project:
        """A Project that this check did not get before; other checks may share it."""
        return self._named(self.pool.another())

    def isolating(self) -> Project:
        """A Project for a user whom no other check uses there; other checks may share it for their users."""
        return self._named(self.pool.isolating())

    def new(self, *, agent_policy: AgentPolicy | None = "approve") -> Project:
        """A Project that the run creates for this check alone."""
        return self._named(self.pool.new(agent_policy))

    def two_with_same_name(self) -> tuple[Project, Project]:
        """Two Projects that the run creates with the same name."""
        one, other = self.pool.two_with_same_name()
        return self._named(one), self._named(other)

    def with_new_client(self) -> tuple[Project, ProxyClient]:
        """A Project that other checks use, and a new Proxy client in it, which the check may revoke."""
        project, client = self.pool.with_new_client()
        self.keyring.public(client.id)
        self.keyring.add(client.secret)
        return self._named(project), client

    def own_or_home(self) -> Project:
        """A Project for this check alone if the run can create Projects; otherwise the home Project."""
        try:
            return self.new()
        except Unavailable:
            return self.home()

    def holding_resource(self) -> Resource:
        """A Resource whose Project holds agents; the agents to be held have to register after this call."""
        resource = self.pool.holding()
        self._name(resource)
        return resource

    def two_holding_resources(self) -> tuple[Resource, Resource]:
        """Resources of two Projects that hold agents which register after this call."""
        resources = self.pool.two_holding()
        for resource in resources:
            self._name(resource)
        return resources

    def approve_agent(self, agent: Agent, resource: Resource) -> None:
        """Approves a Pending agent in the Project of the Resource, as an operator does."""
        actions.approve_agent(
            control_for(self.control, "approve_agent"), resource.project_id, agent.client_id
        )

    def set_agent_policy(self, project: Project, agent_policy: AgentPolicy) -> None:
        """Changes the policy of a Project that the run has created; others are shared with later checks."""
        if not self.pool.created_by_run(project.id):
            raise Unavailable("control:create_project", "needs a Project that the run itself has made")
        actions.set_agent_policy(control_for(self.control, "set_agent_policy"), project.id, agent_policy)

    def two_resources(self) -> tuple[Resource, Resource]:
        home, other = self.home().resource, self.pool.second_resource()
        self._name(other)
        return home, other

    def resource(
        self,
        *,
        indicator: str,
        scopes: tuple[str, ...] = SCOPES,
        project: Project | None = None,
        token_endpoint: str | None = None,
    ) -> Resource:
        """A Resource with exactly this indicator, in the given Project or the home Project."""
        resource = self.pool.resource(indicator, project, scopes=scopes, token_endpoint=token_endpoint)
        self._name(resource)
        return resource

    def at(self, site: MerchantSite, client_id: str, beside: Project | None) -> Project:
        """A Project with a Resource at another merchant of the harness."""
        return self._named(self.pool.project_at(site, client_id, beside))

    def _named(self, project: Project) -> Project:
        self.keyring.public(project.id, project.proxy_client.id)
        self.keyring.add(project.proxy_client.secret)
        self._name(project.resource)
        return project

    def _name(self, resource: Resource) -> None:
        named = (resource.id, resource.indicator, resource.jwks_uri, resource.merchant_client_id or "")
        self.keyring.public(*named)
