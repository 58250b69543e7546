"""The gateway around an agent has two origins, or one where that is asked for."""

from __future__ import annotations

import ssl
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest

from gateproof.conformance.kit.agent.world import (
    ATTACKER,
    CORE,
    GATEWAY,
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
