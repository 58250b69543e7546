"""Where the Projects and Resources of a run come from."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from contextlib import suppress
from typing import Protocol

from gateproof.conformance.suite.claims import LeftOut, Unavailable
from gateproof.conformance.suite.parties import Project, ProxyClient, Resource
from gateproof.conformance.targets import actions, model
from gateproof.conformance.targets.control import ControlFailed, ControlPlane
from gateproof.fakes.merchant.admin import MerchantAdmin

SCOPES = ("orders:read",)


class ProjectPool(Protocol):
    """Gives out Projects and Resources; what it cannot give, it says with the need that is missing."""

    def begin(self) -> None:
        """A new check starts: what it is given differs from what it was given before."""

    def home(self) -> Project:
        """A Project that approves agents, with a Resource and a Proxy client; checks leave it as it is."""

    def another(self) -> Project:
        """A Project that approves agents and that this check was not given yet; it is left as it is."""

    def new(self, agent_policy: model.AgentPolicy | None) -> Project:
        """A Project that the run makes, for a check to do with as it likes."""

    def holding(self) -> Resource:
        """A Resource in a Project that holds agents which register from now on."""

    def second_resource(self) -> Resource:
        """A Resource other than home's."""

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
        """A new Resource with this indicator, at home or in the Project named.

        A token endpoint stands in for the one that the merchant announces.
        """

    def proxy_client_beside(self, project: Project) -> ProxyClient:
        """A Proxy client of the Project other than its first; it is left as it is."""

    def new_proxy_client(self, project: Project) -> ProxyClient:
        """A Proxy client that the run makes in the Project, for a check to do with as it likes."""

    def is_own(self, name: str) -> bool:
        """True for the ID of a Project or Proxy client that the run has made: no other may be changed."""

    def gone(self, client: ProxyClient) -> None:
        """The Proxy client was revoked, so that nobody has to take it away."""

    def revoked_proxy_client(self) -> ProxyClient:
        """A Proxy client that was revoked before the run."""

    def clean_up(self) -> None:
        """Takes away what was made, as far as the target lets it."""


class ControlledProjects:
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
        self._clients: set[str] = set()

    def begin(self) -> None:
        """Nothing to do: every Project but home is new."""

    def home(self) -> Project:
        if self._home is None:
            self._home = self.new("approve")
        return self._home

    def another(self) -> Project:
        return self.new("approve")

    def new(self, agent_policy: model.AgentPolicy | None) -> Project:
        project_id = actions.create_project(
            self._control, f"gateproof {self._run_id} {secrets.token_hex(3)}", agent_policy
        )
        self._made.append(project_id)
        resource = self._create(
            project_id, f"https://api.merchant.example/v1/{self._run_id}-{secrets.token_hex(6)}"
        )
        return Project(id=project_id, resource=resource, proxy_client=self._client_in(project_id))

    def holding(self) -> Resource:
        project = self.new(None)
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
            # An indicator in an odd form may be refused when it is configured; then nothing can be asked.
            raise LeftOut(f"no Resource with the indicator {indicator} could be made") from refusal

    def proxy_client_beside(self, project: Project) -> ProxyClient:
        return self._client_in(project.id)

    def new_proxy_client(self, project: Project) -> ProxyClient:
        return self._client_in(project.id)

    def is_own(self, name: str) -> bool:
        return name in self._made or name in self._clients

    def gone(self, client: ProxyClient) -> None:
        """Nothing to do: it goes with its Project."""

    def revoked_proxy_client(self) -> ProxyClient:
        raise Unavailable("proxy-client:revoked", "Proxy clients of a target with control start out active")

    def _client_in(self, project_id: str) -> ProxyClient:
        client = made_proxy_client(self._control, project_id)
        self._clients.add(client.id)
        return client

    def clean_up(self) -> None:
        # One that somebody else took away already keeps none of the others.
        for project_id in self._made:
            with suppress(ControlFailed):
                actions.delete_project(self._control, project_id)
        self._made.clear()

    def _create(
        self,
        project_id: str,
        indicator: str,
        scopes: tuple[str, ...] = SCOPES,
        token_endpoint: str | None = None,
    ) -> Resource:
        client_id = f"gateway-{secrets.token_hex(8)}"
        self._merchant.register_client(client_id, indicator=indicator, token_endpoint=token_endpoint)
        merchant = {**self._endpoints, "client_id": client_id, "ca_file": self._ca_file}
        if token_endpoint is not None:
            merchant["token_endpoint"] = token_endpoint
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


def made_proxy_client(control: ControlPlane, project_id: str) -> ProxyClient:
    """A Proxy client that the control has just made."""
    client_id, client_secret = actions.create_proxy_client(control, project_id)
    return ProxyClient(id=client_id, secret=client_secret, project_id=project_id)
