"""The least that a target file of each role says, and how a test reads one."""

from pathlib import Path
from typing import NamedTuple

import pytest

from gateproof.conformance.targets.errors import TargetError
from gateproof.conformance.targets.file import load


class Texts(NamedTuple):
    """Files that are right as they are, one a role, and a Project to put behind a gateway's."""

    gateway: str
    service: str
    agent: str
    static: str


GATEWAY = """
[target]
role = "gateway"
name = "acme-gateway"
version = "2.1.0"
base_url = "https://127.0.0.1:8443/"
core_url = "https://LOCALHOST:8444"
"""
SERVICE = """
[target]
role = "service"
name = "acme-orders"
service_url = "https://127.0.0.1:8443"
[operation]
kind = "http"
path = "/orders"
"""
AGENT = """
[target]
role = "agent"
name = "acme-agent"
[launch]
command = ["agent"]
"""
STATIC = """
[[projects]]
id = "prj_1"
agent_policy = "approve"
[[projects.resources]]
id = "res_1"
indicator = "https://api.merchant.example/v1"
scopes = ["orders:read"]
jwks_uri = "https://127.0.0.1:8443/res_1/jwks?x=1"
merchant_client_id = "gateway-res_1"
[[projects.proxy_clients]]
id = "proxy_1"
secret_env = "PROXY_1_SECRET"
"""
ENV = {
    "PROXY_1_SECRET": "proxy-s3cret",
    "ALICE_PASSWORD": "alice-s3cret",
    "CONTROL_TOKEN": "control-s3cret",
    "EMPTY": "",
}
TEXTS = Texts(GATEWAY, SERVICE, AGENT, STATIC)


@pytest.fixture
def texts():
    return TEXTS


@pytest.fixture
def read(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def read(text, env=ENV):
        Path("acme.toml").write_text(text, encoding="utf-8")
        return load("acme.toml", env)

    return read


@pytest.fixture
def complaint(read):
    def complaint(text, env=ENV):
        with pytest.raises(TargetError) as caught:
            read(text, env)
        message = str(caught.value)
        assert "\n" not in message
        assert message.startswith("acme.toml: ")
        assert "s3cret" not in message
        return message

    return complaint
