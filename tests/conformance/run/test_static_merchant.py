"""A gateway set up by hand, told once where the fake merchant will be, is tested with that merchant."""

from __future__ import annotations

import json
import os
import secrets
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path

from conformance.run.authority import Authority
from conformance.run.embedded import Embedded, embedded_gateway
from conformance.run.ports import free_ports
from conformance.run.prepare import launched
from conformance.target import actions
from conformance.target.connect import connect_control
from conformance.target.readiness import any_answers

SOME = ("--only", "REG-0*", "--only", "AUTHZ-0[129]", "--only", "CLAIM-0*", "--only", "REDEEM-0*")


def test_static_gateway_is_conformant_with_the_merchant_it_was_told_of(tmp_path: Path) -> None:
    authority = Authority(tmp_path)
    gateway = embedded_gateway(Embedded(), authority, tmp_path)
    certificate = authority.issue("merchant")
    listen = f"127.0.0.1:{free_ports(1)[0]}"
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
    environment = dict(os.environ)
    with ExitStack() as stack:
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
        for number in range(2):
            project_id = actions.create_project(control, f"by hand {number}", "approve")
            client_id, client_secret = actions.create_proxy_client(control, project_id)
            name, indicator = f"gateway-{secrets.token_hex(4)}", f"https://api.merchant.example/v{number}"
            resource_id, jwks_uri = actions.create_resource(
                control,
                project_id,
                indicator=indicator,
                scopes=["orders:read"],
                merchant=merchant | {"client_id": name},
            )
            environment[f"SECRET_{number}"] = client_secret.reveal()
            lines += [
                f'[[projects]]\nid = "{project_id}"\nagent_policy = "approve"',
                f'[[projects.resources]]\nid = "{resource_id}"\nindicator = "{indicator}"',
                f'scopes = ["orders:read"]\njwks_uri = "{jwks_uri}"\nmerchant_client_id = "{name}"',
                f'[[projects.proxy_clients]]\nid = "{client_id}"\nsecret_env = "SECRET_{number}"',
            ]
        (tmp_path / "target.toml").write_text("\n".join(lines))
        done = subprocess.run(
            [sys.executable, "-m", "conformance", "run", "--target", "target.toml", "--workers", "2", *SOME],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            timeout=110,
            check=False,
        )
    report = json.loads((tmp_path / "gateproof-report" / "report.json").read_text())
    checks = {check["id"]: check for rule in report["rules"] for check in rule["checks"]}
    assert (done.returncode, report["verdict"]) == (0, "conformant"), done.stdout
    assert checks["REDEEM-01/nine_steps_from_401_to_the_merchants_data"]["verdict"] == "passed"
