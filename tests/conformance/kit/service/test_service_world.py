"""The world around a service is told to it, and what was told once stays so where the address does."""

from __future__ import annotations

import re
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from gateproof.conformance.kit.authority import Authority
from gateproof.conformance.kit.service.world import ServiceWorld, environment, set_up
from gateproof.conformance.run.context.embedded import embedded_reference, embedded_service
from gateproof.conformance.targets.model import Address, OwnParties, World
from gateproof.conformance.wire.ports import free_ports
from gateproof.fakes.gateway.keys import kept_key


def told(world: World, folder: Path, own: OwnParties | None = None) -> tuple[ServiceWorld, dict[str, str]]:
    """A world that has been open for a moment, and what a launched service is told of it."""
    authority = Authority(folder)
    with ExitStack() as stack:
        service = embedded_service(embedded_reference("service"), authority, folder, stack)
        target = replace(service, world=world, own_parties=own or OwnParties())
        opened = set_up(target, authority, stack)
        return opened, dict(environment(opened, target, authority))


def test_project_is_told_and_stands_in_the_tokens(tmp_path: Path) -> None:
    around, settings = told(World(), tmp_path)

    ext = around.gateway.claims("alice")["ext"]
    assert settings["GATEPROOF_PROJECT_ID"] == ext["project_id"]
    assert re.fullmatch(r".+:al2", ext["acr"])


def test_project_of_a_fixed_world_is_the_same_in_every_run(tmp_path: Path) -> None:
    fixed = World(listen=Address(host="127.0.0.1", port=free_ports(1)[0]))
    first, second = (told(fixed, tmp_path)[1] for _ in range(2))

    assert first["GATEPROOF_PROJECT_ID"] == second["GATEPROOF_PROJECT_ID"] == "prj_1"


def test_discovery_announces_what_the_core_signs_by(tmp_path: Path) -> None:
    gateway = told(World(algorithm="EdDSA"), tmp_path)[0].gateway
    announced = "id_token_signing_alg_values_supported"

    assert gateway.discovery().document[announced] == ["EdDSA"]
    gateway.add_core_key("RS256")
    assert gateway.discovery().document[announced] == ["EdDSA", "RS256"]


@pytest.mark.parametrize(("one_origin", "origins"), [(False, 3), (True, 2)])
def test_api_and_core_share_an_origin_if_told_so(one_origin: bool, origins: int, tmp_path: Path) -> None:
    around, settings = told(World(), tmp_path, OwnParties(one_origin=one_origin))
    named = [
        settings[f"GATEPROOF_{name}"].removesuffix("/api")
        for name in ("BASE_URL", "CORE_URL", "MERCHANT_API_URL")
    ]

    assert len(set(named)) == origins
    assert named[2] not in named[:2]
    assert around.gateway.addresses.token_endpoint.startswith(named[1])


def test_parties_have_names_if_told_so(tmp_path: Path) -> None:
    _, settings = told(World(), tmp_path, OwnParties(names="agents.test"))
    hosts = [
        urlsplit(settings[f"GATEPROOF_{name}"]).hostname
        for name in ("BASE_URL", "CORE_URL", "MERCHANT_API_URL")
    ]

    assert hosts == ["gateway.agents.test", "gateway.agents.test", "merchant.agents.test"]


@pytest.mark.parametrize("algorithm", ["ES256", "RS256", "PS256", "EdDSA"])
def test_kept_key_stays_the_same_and_of_its_kind(algorithm: str, tmp_path: Path) -> None:
    file = tmp_path / "core-key.pem"
    first = kept_key(file, algorithm)

    assert kept_key(file, algorithm).jwk == first.jwk
    assert first.jwk["alg"] == algorithm
    other = "RS256" if algorithm in ("ES256", "EdDSA") else "ES256"
    with pytest.raises(ValueError, match=f"core-key.pem holds a key that does not fit {other}"):
        kept_key(file, other)
