"""Whoever follows a redirect is seen there, also from a world whose certificate is for no other host."""

from __future__ import annotations

import json
import sys
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import pytest
import trustme
from warm import WARM

sys.path.insert(0, str(Path(__file__).parent))
from services import HTTP, result_of

from gateproof.conformance.kit.authority import Authority
from gateproof.conformance.kit.service.world import set_up
from gateproof.conformance.targets.file import load
from gateproof.conformance.targets.model import Address, ServiceTarget, World
from gateproof.conformance.wire.ports import free_ports

TARGET = """
[target]
role = "service"
name = "orders"
service_url = "https://127.0.0.1:{own}"
[launch]
command = {command}
[operation]
{operation}
[world]
listen = "127.0.0.1:{world}"
ca_file = "ca.pem"
tls_cert_file = "world.pem"
tls_key_file = "world.key"
"""


def given(folder: Path, *program: str) -> Path:
    """A target file with a certificate for the world's address and for no name."""
    authority = trustme.CA()
    authority.cert_pem.write_to_path(str(folder / "ca.pem"))
    leaf = authority.issue_cert("127.0.0.1")
    leaf.cert_chain_pems[0].write_to_path(str(folder / "world.pem"))
    leaf.private_key_pem.write_to_path(str(folder / "world.key"))
    own, world = free_ports(2)
    command = json.dumps([*WARM, *program, "--exit-with-stdin"])
    file = folder / "orders.toml"
    file.write_text(TARGET.format(own=own, world=world, command=command, operation=HTTP))
    return file


@pytest.mark.parametrize(
    ("program", "verdict"),
    [
        (("gateproof.reference.service",), "passed"),
        (("gateproof.reference.defects", "service", "redemptions-redirect-followed"), "failed"),
    ],
)
def test_follower_is_seen_where_the_certificate_was_given(
    program: tuple[str, ...], verdict: str, tmp_path: Path
) -> None:
    result = result_of(load(given(tmp_path, *program)), tmp_path, "BACK-09")

    (rule,) = result.rules
    assert rule.verdict.value == verdict, [check.message for check in rule.checks]


@pytest.mark.parametrize(
    ("host", "here"), [("127.0.0.1", True), ("localhost", True), ("world.invalid", False)]
)
def test_other_host_is_in_reach_of_whoever_is_here(host: str, here: bool, tmp_path: Path) -> None:
    port = free_ports(1)[0]
    world = World(listen=Address(host="127.0.0.1", port=port), public_url=f"http://{host}:{port}")
    target = load(given(tmp_path, "gateproof.reference.service"))
    assert isinstance(target, ServiceTarget)

    with ExitStack() as stack:
        opened = set_up(replace(target, world=world, file=None), Authority(tmp_path), stack)
        assert opened.attacker_in_reach is here
