"""Starts a reference world with MCP services, sends the SDK's agents in, and prints how far each came.

`make mcp-sdk` runs it. It needs two environments: its own, and the SDK's in .venv-mcp-sdk.
"""

from __future__ import annotations

import argparse
import json
import secrets
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gateproof.conformance.kit.authority import Authority, Certificate
from gateproof.conformance.run.context.embedded import Embedded
from gateproof.conformance.run.drive.session import temporary_run_folder
from gateproof.conformance.run.drive.signals import terminated_as_interrupted
from gateproof.conformance.run.prepare.gateway import CannotRun, Started, launched, started
from gateproof.conformance.targets import actions
from gateproof.conformance.targets.connect import connect_control
from gateproof.conformance.targets.launch import LaunchFailed
from gateproof.conformance.targets.model import Launch
from gateproof.conformance.targets.readiness import any_answers
from gateproof.conformance.wire.ports import free_ports

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]
SDK_PYTHON = ROOT / ".venv-mcp-sdk" / "bin" / "python"
LIMIT_S = 300
CALLBACK = "https://agent.example/callback"
# What each service publishes that differs from the next.
SERVICES = {
    "plain": (),
    "core-first": ("--publish", "core-first"),
    "facade": ("--publish", "facade"),
    "narrow-scopes": ("--scopes", "orders:read"),
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Operator:
    """One operator: a Project at a gateway, and what its service has to be told."""

    resource_id: str
    world: Started
    environment: Mapping[str, str]

    @property
    def authorization_server(self) -> str:
        return f"{self.world.target.base_url}/{self.resource_id}"


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="what was seen, as JSON")
    parser.add_argument("trial", nargs="*", help="these trials only")
    given = parser.parse_args(arguments)
    if not SDK_PYTHON.exists():
        print("the SDK's environment is not there: make mcp-sdk", file=sys.stderr)
        return 2
    try:
        with terminated_as_interrupted(), temporary_run_folder() as (folder, stack):
            outcomes = carry_out(folder, stack, given.trial)
    except (CannotRun, LaunchFailed) as reason:
        print(f"the trials could not be carried out: {reason}", file=sys.stderr)
        return 3
    except KeyboardInterrupt:
        return 130
    if given.json:
        print(json.dumps(outcomes, indent=2))
    else:
        show(outcomes)
    return 0


def carry_out(folder: Path, stack: ExitStack, only: Sequence[str]) -> list[dict[str, Any]]:
    authority = Authority(folder)
    certificate = authority.issue("mcp-service")
    home = operator(Embedded(), authority, folder, stack)
    services = {
        name: serve(name, options, home, certificate, folder, stack) for name, options in SERVICES.items()
    }
    front = (sys.executable, str(HERE / "second_document.py"))
    other = operator(Embedded(program=front), authority, folder, stack)
    services["second-document"] = serve("second-document", (), other, certificate, folder, stack)
    person = home.world.users[0]
    asked = {
        "ca_file": str(authority.ca_file),
        "sign_in": [sys.executable, str(HERE / "sign_in.py")],
        "user": {"name": person.name, "login": person.login, "password": person.password.reveal()},
        "issuer": home.world.target.core_url,
        "discovery_url": f"{home.authorization_server}/.well-known/openid-configuration",
        "callback": CALLBACK,
        "services": services,
        "places": placeholders(services, home, other),
    }
    origins = [
        url
        for each in (home, other)
        if each.world.merchant is not None
        for url in (each.world.target.base_url, each.world.merchant.endpoints["issuer"])
    ]
    done = subprocess.run(
        [SDK_PYTHON, HERE / "client.py", *only],
        input=json.dumps(asked),
        env={
            "GATEPROOF_CA_FILE": str(authority.ca_file),
            "GATEPROOF_SIGN_IN_ORIGINS": " ".join(origins),
        },
        stdout=subprocess.PIPE,
        text=True,
        timeout=LIMIT_S,
        check=True,
    )
    outcomes: list[dict[str, Any]] = json.loads(done.stdout)
    return outcomes


def operator(embedded: Embedded, authority: Authority, folder: Path, stack: ExitStack) -> Operator:
    """A gateway with a Project, a Resource that the merchant knows, and a Proxy client."""
    world = started(embedded, authority, folder, secrets.randbelow(2**32), stack)
    merchant, control_place = world.merchant, world.target.control
    assert merchant is not None
    assert control_place is not None
    control, admin = connect_control(control_place), merchant.admin()
    stack.callback(control.close)
    stack.callback(admin.close)
    project_id = actions.create_project(control, "an MCP service")
    indicator, client_id = "https://api.merchant.example/v1", f"gateway-{secrets.token_hex(6)}"
    admin.register_client(client_id, jwks_uri=None, indicator=indicator)
    resource_id, jwks_uri = actions.create_resource(
        control,
        project_id,
        indicator=indicator,
        scopes=["orders:read"],
        merchant={**merchant.endpoints, "client_id": client_id, "ca_file": merchant.ca_file},
    )
    admin.set_jwks_uri(client_id, jwks_uri)
    proxy_id, proxy_secret = actions.create_proxy_client(control, project_id)
    environment = {
        "GATEPROOF_BASE_URL": world.target.base_url,
        "GATEPROOF_CORE_URL": world.target.core_url,
        "GATEPROOF_AUTHORIZATION_SERVER": f"{world.target.base_url}/{resource_id}",
        "GATEPROOF_RESOURCE_INDICATOR": indicator,
        "GATEPROOF_PROXY_CLIENT_ID": proxy_id,
        "GATEPROOF_PROXY_CLIENT_SECRET": proxy_secret.reveal(),
        "GATEPROOF_MERCHANT_API_URL": merchant.endpoints["api_url"],
    }
    return Operator(resource_id=resource_id, world=world, environment=environment)


def serve(
    name: str,
    options: Sequence[str],
    home: Operator,
    certificate: Certificate,
    folder: Path,
    stack: ExitStack,
) -> str:
    """The MCP service of an operator, as a process in the SDK's environment."""
    url = f"https://127.0.0.1:{free_ports(1)[0]}"
    environment = {
        **home.environment,
        "GATEPROOF_SERVICE_URL": url,
        "GATEPROOF_TLS_CERT_FILE": str(certificate.cert_file),
        "GATEPROOF_TLS_KEY_FILE": str(certificate.key_file),
    }
    metadata_url = f"{url}/.well-known/oauth-protected-resource/mcp"
    launched(
        Launch(
            command=(str(SDK_PYTHON), str(HERE / "server.py"), *options),
            cwd=folder,
            ready_url=metadata_url,
            timeout_s=30,
            env=environment,
        ),
        folder / f"{name}.log",
        stack,
        ca_file=Path(certificate.cert_file).with_name("ca.pem"),
        urls=[url],
        ready=any_answers([metadata_url]),
    )
    return url


def placeholders(services: Mapping[str, str], *operators: Operator) -> dict[str, str]:
    """The placeholders of the specification for this run's addresses, the same for both gateways."""
    found = {}
    for each in operators:
        found[each.world.target.base_url] = "{base_url}"
        found[each.world.target.core_url] = "{core_url}"
        found[each.resource_id] = "{resource_id}"
    return found | dict.fromkeys(services.values(), "{service_url}")


def show(outcomes: Sequence[Mapping[str, Any]]) -> None:
    for outcome in outcomes:
        ended = outcome["stopped"] or f"{len(outcome['orders'])} orders"
        if outcome["orders_after_refresh"]:
            ended += f", and after a refresh {len(outcome['orders_after_refresh'])}"
        print(f"{outcome['trial']}: {ended}")
        for request in outcome["requests"]:
            print(f"    {request}")


if __name__ == "__main__":
    sys.exit(main())
