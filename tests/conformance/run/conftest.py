"""A gateway that an operator set up by hand, and a suite that judges one target after the other."""

from __future__ import annotations

import json
import os
import secrets
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from warm import WARM

from gateproof.conformance.kit.authority import Authority
from gateproof.conformance.run.context.embedded import Embedded, embedded_gateway
from gateproof.conformance.run.prepare.gateway import launched
from gateproof.conformance.targets import actions
from gateproof.conformance.targets.connect import connect_control
from gateproof.conformance.targets.control import ControlPlane
from gateproof.conformance.targets.readiness import any_answers
from gateproof.conformance.wire.ports import kept_port


@pytest.fixture
def hang_up_heard() -> Iterator[None]:
    """The tests may outlive their terminal themselves, and whoever they start takes that over."""
    before = signal.signal(signal.SIGHUP, signal.SIG_DFL)
    yield
    signal.signal(signal.SIGHUP, before)


@pytest.fixture
def launched_target(tmp_path: Path) -> Iterator[Callable[..., Path]]:
    """Writes a target file for a gateway that the harness starts, with its hosts where they are wanted.

    One that ends by itself is `alone`, with an interpreter of its own: a fork ends before who asked for it.
    """
    keeping = ExitStack()

    def write(
        *program: str,
        secure: bool = True,
        base: str = "",
        core: str = "",
        shared: bool = False,
        alone: bool = False,
    ) -> Path:
        ports = [kept_port(keeping) for _ in range(3)]
        scheme = "https" if secure else "http"
        base_url = f"{scheme}://127.0.0.1:{ports[0]}{base}"
        core_url = f"{scheme}://127.0.0.1:{ports[0 if shared else 1]}{core}"
        control_url = f"http://127.0.0.1:{ports[2]}/control"
        command = [*((sys.executable,) if alone else WARM), *program]
        command += ["--base-url", base_url, "--core-url", core_url]
        command += ["--control-url", control_url, "--exit-with-stdin"]
        lines = ['[target]\nrole = "gateway"\nname = "launched"\nversion = "1"']
        lines += [f'base_url = "{base_url}"\ncore_url = "{core_url}"']
        if secure:
            authority = Authority(tmp_path)
            certificate = authority.issue("gateway")
            command += ["--tls-cert", str(certificate.cert_file), "--tls-key", str(certificate.key_file)]
            lines += [f"ca_file = {json.dumps(str(authority.ca_file))}"]
        lines += [f"[launch]\ncommand = {json.dumps(command)}", f'[control]\nurl = "{control_url}"']
        file = tmp_path / "target.toml"
        file.write_text("\n".join(lines))
        return file

    with keeping:
        yield write


@dataclass
class ByHand:
    """The gateway's control, and the target file as far as it is written."""

    folder: Path
    control: ControlPlane
    merchant: dict[str, Any]
    lines: list[str]
    environment: dict[str, str] = field(default_factory=lambda: dict(os.environ))

    def add_project(self, number: int, *, agent_policy: Any = "approve", clients: int = 1) -> str:
        """Makes a Project with a Resource, and lists it."""
        control = self.control
        project_id = actions.create_project(control, f"by hand {number}", agent_policy)
        name, indicator = f"gateway-{secrets.token_hex(4)}", f"https://api.merchant.example/v{number}"
        resource_id, jwks_uri = actions.create_resource(
            control,
            project_id,
            indicator=indicator,
            scopes=["orders:read"],
            merchant=self.merchant | {"client_id": name},
        )
        self.lines += [
            f'[[projects]]\nid = "{project_id}"\nagent_policy = "{agent_policy}"',
            f'[[projects.resources]]\nid = "{resource_id}"\nindicator = "{indicator}"',
            f'scopes = ["orders:read"]\njwks_uri = "{jwks_uri}"\nmerchant_client_id = "{name}"',
        ]
        for _ in range(clients):
            client_id, client_secret = actions.create_proxy_client(control, project_id)
            variable = f"SECRET_{len(self.environment)}"
            self.environment[variable] = client_secret.reveal()
            self.lines.append(f'[[projects.proxy_clients]]\nid = "{client_id}"\nsecret_env = "{variable}"')
        return project_id

    def run(self, *options: str) -> tuple[int, dict[str, Any]]:
        """A run against it, and its report."""
        (self.folder / "target.toml").write_text("\n".join(self.lines))
        done = subprocess.run(
            [*WARM, "gateproof", "run", "--target", "target.toml", "--quiet", *options],
            cwd=self.folder,
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=400,
            check=False,
        )
        assert done.stderr == ""
        return done.returncode, json.loads((self.folder / "gateproof-report" / "report.json").read_text())


@pytest.fixture
def by_hand(tmp_path: Path) -> Iterator[ByHand]:
    """A gateway without a Project, whose target file names the merchant."""
    with ExitStack() as stack:
        authority = Authority(tmp_path)
        gateway = embedded_gateway(Embedded(), authority, tmp_path, stack)
        certificate = authority.issue("merchant")
        listen = f"127.0.0.1:{kept_port(stack)}"
        # Another name than the address: the target resolves it, the harness goes to where it listens.
        public_url = f"https://localhost:{listen.rpartition(':')[2]}"
        merchant = {
            "issuer": public_url,
            "authorization_endpoint": f"{public_url}/authorize",
            "token_endpoint": f"{public_url}/token",
            "userinfo_endpoint": f"{public_url}/userinfo",
            "jwks_uri": f"{public_url}/jwks",
            "api_url": f"{public_url}/api",
            "ca_file": str(authority.ca_file),
        }
        lines = [
            '[target]\nrole = "gateway"\nname = "by hand"\nversion = "1"',
            f'base_url = "{gateway.base_url}"\ncore_url = "{gateway.core_url}"\nca_file = "ca.pem"',
            f'[merchant]\nlisten = "{listen}"\npublic_url = "{public_url}"\nca_file = "ca.pem"',
            f'tls_cert_file = "{certificate.cert_file.name}"\ntls_key_file = "{certificate.key_file.name}"',
        ]
        assert gateway.launch is not None
        assert gateway.control is not None
        assert gateway.control.url is not None
        launched(
            gateway.launch,
            tmp_path / "gateway.log",
            stack,
            ca_file=authority.ca_file,
            urls=[gateway.base_url],
            ready=any_answers([gateway.control.url]),
        )
        control = connect_control(gateway.control)
        stack.callback(control.close)
        yield ByHand(folder=tmp_path, control=control, merchant=merchant, lines=lines)
