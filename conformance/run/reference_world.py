"""The reference world of `gateproof serve`: gateway with Projects, merchant, service and playground."""

from __future__ import annotations

import json
import secrets
import time
from collections.abc import Mapping
from contextlib import ExitStack, closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gateproof.conformance.kit.authority import Authority
from gateproof.conformance.run.context.embedded import Embedded, OpenConsole
from gateproof.conformance.run.context.merchant_access import MerchantAccess
from gateproof.conformance.run.prepare.gateway import CannotRun, launched, started
from gateproof.conformance.targets import actions
from gateproof.conformance.targets.connect import connect_control
from gateproof.conformance.targets.control import ControlPlane
from gateproof.conformance.targets.launch import Running
from gateproof.conformance.targets.model import AgentPolicy, GatewayTarget, Launch
from gateproof.conformance.targets.readiness import any_answers
from gateproof.conformance.wire.ports import free_ports
from gateproof.conformance.wire.secret import Secret
from gateproof.package import PYTHON_MODULE

SCOPES = ("orders:read",)
OPERATOR = "operator"
# Scripts of the merchant for the Resources of the playground's faults.
TROUBLE: Mapping[str, Mapping[str, Any]] = {
    "distrusted": {"provisioning": "reject"},
    "broken": {"provisioning": {"outcome": "server_error", "status": 500}},
    "unrefreshed": {"refresh": "reject", "access_token_lifetime_s": 1},
}


@dataclass(frozen=True, kw_only=True)
class ReferenceWorld:
    """The running processes, and the facts to print."""

    facts: dict[str, Any]
    running: tuple[Running, ...]


def start_world(folder: Path, stack: ExitStack, program: tuple[str, ...] | None = None) -> ReferenceWorld:
    """Starts merchant, gateway, service and playground, and creates Projects in the gateway.

    `program` starts the gateway, if it is not the reference itself.
    """
    authority = Authority(folder)
    console_port, playground_port = free_ports(2)
    console = OpenConsole(
        url=f"https://127.0.0.1:{console_port}",
        password=Secret("operator_password", secrets.token_urlsafe(16)),
    )
    embedded = Embedded(open_control=True, console=console, program=program or Embedded().program)
    world = started(embedded, authority, folder, secrets.randbelow(2**32), stack)
    if world.merchant is None or world.target.control is None or world.running is None:
        raise CannotRun("the reference world is not complete")
    with closing(world.merchant.admin()) as admin:
        # Resources that are created in the Console are not registered at the merchant otherwise.
        admin.trust(world.target.base_url)
    control = connect_control(world.target.control)
    stack.callback(control.close)
    projects = [
        _project(control, world.merchant, "approve", ("v1", "v2")),
        _project(control, world.merchant, "approve", ("v1",)),
        _project(control, world.merchant, "hold", ("v1",)),
    ]
    service_url, service = _service(world.target, world.merchant, projects[0], authority, folder, stack)
    playground_url = f"https://127.0.0.1:{playground_port}"
    stages = _stages(control, world.merchant, projects)
    playground = _playground(world.target, world.merchant, playground_url, stages, authority, folder, stack)
    facts = {
        "base_url": world.target.base_url,
        "core_url": world.target.core_url,
        "console_url": console.url,
        "playground_url": playground_url,
        "merchant_url": world.merchant.endpoints["issuer"],
        "merchant_api_url": world.merchant.endpoints["api_url"],
        "service_url": service_url,
        "control_url": world.target.control.url,
        "ca_file": str(authority.ca_file),
        "operator": {"name": OPERATOR, "password": console.password.reveal()},
        "project": {"id": projects[0]["id"], "agent_policy": projects[0]["agent_policy"]},
        "resource": projects[0]["resources"][0],
        "proxy_clients": projects[0]["proxy_clients"],
        "projects": projects,
        "users": [
            {"name": user.name, "login": user.login, "password": user.password.reveal()}
            for user in world.users
        ],
    }
    return ReferenceWorld(facts=facts, running=(world.running, service, playground))


def wait(world: ReferenceWorld) -> None:
    """Waits until an interruption; raises CannotRun if one of the servers ends."""
    while all(running.exit_code() is None for running in world.running):
        time.sleep(0.2)
    raise CannotRun("one of the reference's servers has ended")


def _project(
    control: ControlPlane, merchant: MerchantAccess, agent_policy: AgentPolicy, versions: tuple[str, ...]
) -> dict[str, Any]:
    """A new Project, in the form of the target file: Resources, two active and one revoked Proxy client."""
    project_id = actions.create_project(control, f"showcase {agent_policy}", agent_policy)
    clients = [actions.create_proxy_client(control, project_id) for _ in range(3)]
    actions.revoke_proxy_client(control, project_id, clients[-1][0])
    states = ("active", "active", "revoked")
    return {
        "id": project_id,
        "agent_policy": agent_policy,
        "resources": [_resource(control, merchant, project_id, version) for version in versions],
        "proxy_clients": [
            {"id": client_id, "secret": secret.reveal(), "state": state}
            for (client_id, secret), state in zip(clients, states, strict=True)
        ],
    }


def _resource(
    control: ControlPlane, merchant: MerchantAccess, project_id: str, version: str
) -> dict[str, Any]:
    indicator = f"https://api.merchant.example/{version}/{secrets.token_hex(4)}"
    client_id = f"gateway-{secrets.token_hex(6)}"
    with closing(merchant.admin()) as admin:
        admin.register_client(client_id, jwks_uri=None, indicator=indicator)
    resource_id, jwks_uri = actions.create_resource(
        control,
        project_id,
        indicator=indicator,
        scopes=SCOPES,
        merchant={**merchant.endpoints, "client_id": client_id, "ca_file": merchant.ca_file},
    )
    with closing(merchant.admin()) as admin:
        admin.set_jwks_uri(client_id, jwks_uri)
    return {
        "id": resource_id,
        "indicator": indicator,
        "scopes": list(SCOPES),
        "jwks_uri": jwks_uri,
        "merchant_client_id": client_id,
    }


def _stages(
    control: ControlPlane, merchant: MerchantAccess, projects: list[dict[str, Any]]
) -> list[dict[str, Any]]:
    """The Resources and Proxy clients for the playground: the usual ones, and others for its faults."""
    usual, other, held = projects
    active, _, revoked = usual["proxy_clients"]
    stages = [
        _stage("usual", usual["resources"][0], active),
        _stage("revoked", usual["resources"][0], revoked),
        _stage("foreign", usual["resources"][0], other["proxy_clients"][0]),
        _stage("hold", held["resources"][0], held["proxy_clients"][0]),
    ]
    project_id = actions.create_project(control, "where the merchant is in trouble", "approve")
    client_id, secret = actions.create_proxy_client(control, project_id)
    client = {"id": client_id, "secret": secret.reveal()}
    for name, script in TROUBLE.items():
        resource = _resource(control, merchant, project_id, name)
        with closing(merchant.admin()) as admin:
            admin.script(resource["merchant_client_id"], **script)
        stages.append(_stage(name, resource, client))
    return stages


def _stage(name: str, resource: Mapping[str, Any], client: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "name": name,
        "resource_id": resource["id"],
        "indicator": resource["indicator"],
        "scopes": resource["scopes"],
        "proxy_client_id": client["id"],
        "proxy_client_secret": client["secret"],
    }


def _service(
    target: GatewayTarget,
    merchant: MerchantAccess,
    project: dict[str, Any],
    authority: Authority,
    folder: Path,
    stack: ExitStack,
) -> tuple[str, Running]:
    """Starts the reference service, configured like by an operator."""
    service_url = f"https://127.0.0.1:{free_ports(1)[0]}"
    certificate = authority.issue("service")
    resource, client = project["resources"][0], project["proxy_clients"][0]
    environment = {
        "GATEPROOF_BASE_URL": target.base_url,
        "GATEPROOF_CORE_URL": target.core_url,
        "GATEPROOF_RESOURCE_ID": resource["id"],
        "GATEPROOF_RESOURCE_INDICATOR": resource["indicator"],
        "GATEPROOF_RESOURCE_JWKS_URI": resource["jwks_uri"],
        "GATEPROOF_AUTHORIZATION_SERVER": f"{target.base_url}/{resource['id']}",
        "GATEPROOF_PROXY_CLIENT_ID": client["id"],
        "GATEPROOF_PROXY_CLIENT_SECRET": client["secret"],
        "GATEPROOF_MERCHANT_API_URL": merchant.endpoints["api_url"],
        "GATEPROOF_SERVICE_URL": service_url,
        "GATEPROOF_TLS_CERT_FILE": str(certificate.cert_file),
        "GATEPROOF_TLS_KEY_FILE": str(certificate.key_file),
    }
    metadata_url = f"{service_url}/.well-known/oauth-protected-resource"
    spec = Launch(
        command=(*PYTHON_MODULE, "gateproof.reference.service", "--exit-with-stdin"),
        cwd=folder,
        ready_url=metadata_url,
        env=environment,
    )
    running = launched(
        spec,
        folder / "service.log",
        stack,
        ca_file=authority.ca_file,
        urls=[service_url],
        ready=any_answers([metadata_url]),
    )
    return service_url, running


def _playground(
    target: GatewayTarget,
    merchant: MerchantAccess,
    url: str,
    stages: list[dict[str, Any]],
    authority: Authority,
    folder: Path,
    stack: ExitStack,
) -> Running:
    """Starts the playground, which uses only public endpoints of the gateway."""
    certificate = authority.issue("playground")
    environment = {
        "GATEPROOF_PLAYGROUND_URL": url,
        "GATEPROOF_BASE_URL": target.base_url,
        "GATEPROOF_MERCHANT_API_URL": merchant.endpoints["api_url"],
        "GATEPROOF_PLAYGROUND_STAGES": json.dumps(stages),
        "GATEPROOF_TLS_CERT_FILE": str(certificate.cert_file),
        "GATEPROOF_TLS_KEY_FILE": str(certificate.key_file),
    }
    spec = Launch(
        command=(*PYTHON_MODULE, "gateproof.reference.playground", "--exit-with-stdin"),
        cwd=folder,
        ready_url=url,
        env=environment,
    )
    return launched(
        spec,
        folder / "playground.log",
        stack,
        ca_file=authority.ca_file,
        urls=[url],
        ready=any_answers([url]),
    )
