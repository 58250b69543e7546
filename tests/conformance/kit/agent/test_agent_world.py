"""The world around an agent: its origins, names and certificates."""

from __future__ import annotations

import ssl
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest
from cryptography import x509

from gateproof.conformance.kit.agent import world as agent_world
from gateproof.conformance.kit.agent.world import (
    ATTACKER,
    CORE,
    GATEWAY,
    OTHER_HOST,
    PLAIN_HTTP,
    SECOND,
    SECOND_CORE,
    SERVICE,
    AgentWorld,
    Certificates,
)
from gateproof.conformance.kit.authority import Authority
from gateproof.conformance.targets.party_names import hosts_below
from gateproof.conformance.wire.client import Wire
from gateproof.conformance.wire.exchange import Request
from gateproof.fakes.gateway.running import Loop
from gateproof.fakes.gateway.script import Endpoint
from gateproof.fakes.serving import server_tls


@pytest.mark.parametrize("one_origin", [False, True])
def test_each_host_answers_and_hears_its_own_requests(one_origin: bool, tmp_path: Path) -> None:
    authority = Authority(tmp_path)
    issued = authority.issue("world")
    files = {"good": (issued.cert_file, issued.key_file)}
    trust = ssl.create_default_context(cafile=str(authority.ca_file))
    with Loop() as loop, httpx.Client(verify=trust, trust_env=False) as client:
        certificates = Certificates(ca_file=authority.ca_file, files=files)
        world = AgentWorld(loop, certificates, one_origin=one_origin)
        second = world.add_second_gateway()
        for desk, base, core in ((world.gateway_endpoints, GATEWAY, CORE), (second, SECOND, SECOND_CORE)):
            discovery = client.get(f"{desk.site.authorization_server}/.well-known/openid-configuration")
            keys = client.get(discovery.json()["jwks_uri"])

            assert keys.json()["keys"]
            assert (world.url(base) == world.url(core)) is one_origin
            heard = {each.party: each.call.endpoint for each in world.heard() if each.party in (base, core)}
            assert heard == {base: Endpoint.DISCOVERY, core: Endpoint.CORE_KEYS}
        world.close()


def test_all_parties_have_names(tmp_path: Path) -> None:
    authority = Authority(tmp_path, names=hosts_below("agents.test"))
    issued = authority.issue("world")
    certificates = Certificates(
        ca_file=authority.ca_file, files={"good": (issued.cert_file, issued.key_file)}
    )
    with Loop() as loop:
        world = AgentWorld(loop, certificates, names="agents.test")
        hosts = {name: urlsplit(party.url).hostname for name, party in world.parties.items()}
        wire = Wire((world.place(),), timeout_s=5, record=lambda _: None)
        exchange = wire.send(
            "discovery",
            Request(
                method="GET",
                url=f"{world.gateway_endpoints.site.authorization_server}/.well-known/openid-configuration",
            ),
        )
        wire.close()
        world.close()

    assert hosts == {
        SERVICE: "service.agents.test",
        GATEWAY: "gateway.agents.test",
        CORE: "gateway.agents.test",
        PLAIN_HTTP: "gateway.agents.test",
        ATTACKER: "merchant.agents.test",
    }
    # No system knows these names: the harness finds its own parties by their ports.
    assert exchange.status == 200, exchange.failure


def test_each_certificate_is_loaded_once_for_all_worlds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    authority = Authority(tmp_path)
    issued = {
        "good": authority.issue("world"),
        OTHER_HOST: authority.issue_for("elsewhere", "elsewhere.example"),
    }
    files = {name: (each.cert_file, each.key_file) for name, each in issued.items()}
    certificates = Certificates(ca_file=authority.ca_file, files=files)
    loaded: list[Path] = []

    def counted(cert_file: Path, key_file: Path) -> ssl.SSLContext:
        loaded.append(cert_file)
        return server_tls(cert_file, key_file)

    monkeypatch.setattr(agent_world, "server_tls", counted)
    with Loop() as loop:
        worlds: list[dict[str, str]] = [{}, {CORE: OTHER_HOST}, {}]
        for wrong in worlds:
            world = AgentWorld(loop, certificates, wrong=wrong)
            shown = {name: _names_shown_by(world.url(name)) for name in (GATEWAY, CORE)}
            world.close()
            assert ["elsewhere.example" in shown[name] for name in (GATEWAY, CORE)] == [False, CORE in wrong]
    assert sorted(loaded) == sorted(each.cert_file for each in issued.values())


def _names_shown_by(url: str) -> str:
    """The names in the certificate of a party, as text."""
    parts = urlsplit(url)
    pem = ssl.get_server_certificate((parts.hostname or "", parts.port or 0))
    certificate = x509.load_pem_x509_certificate(pem.encode())
    return str(certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value)
