"""The world around a service is told to it, and what was told once stays so where the address does."""

from __future__ import annotations

import re
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

from conformance.run.authority import Authority
from conformance.run.embedded import embedded_reference, embedded_service
from conformance.run.ports import free_ports
from conformance.run.service_world import ServiceWorld, environment, set_up
from conformance.target.model import Address, World


def told(world: World, folder: Path) -> tuple[ServiceWorld, dict[str, str]]:
    """A world that has been open for a moment, and what a launched service is told of it."""
    authority = Authority(folder)
    target = replace(embedded_service(embedded_reference("service"), authority, folder), world=world)
    with ExitStack() as stack:
        around = set_up(target, authority, stack)
        return around, dict(environment(around, target, authority))


def test_project_is_told_and_stands_in_the_tokens(tmp_path: Path) -> None:
    around, settings = told(World(), tmp_path)

    ext = around.gateway.claims("alice")["ext"]
    assert settings["GATEPROOF_PROJECT_ID"] == ext["project_id"]
    assert re.fullmatch(r".+:al2", ext["acr"])


def test_project_of_a_fixed_world_is_the_same_in_every_run(tmp_path: Path) -> None:
    fixed = World(listen=Address(host="127.0.0.1", port=free_ports(1)[0]))
    first, second = (told(fixed, tmp_path)[1] for _ in range(2))

    assert first["GATEPROOF_PROJECT_ID"] == second["GATEPROOF_PROJECT_ID"] == "prj_1"
