"""What is read out of a good target file, and what is said of one that cannot be read at all."""

import pytest

from gateproof.conformance.targets.errors import TargetError
from gateproof.conformance.targets.file import load
from gateproof.conformance.targets.model import Address, AgentTarget, GatewayTarget, ServiceTarget


def test_a_gateway_needs_no_more_than_its_addresses(read, texts):
    target = read(texts.gateway)

    assert isinstance(target, GatewayTarget)
    assert target.base_url == "https://127.0.0.1:8443"
    assert target.core_url == "https://localhost:8444"
    assert [user.name for user in target.users] == ["alice", "bob"]
    assert target.sign_in.kind == "forms"
    assert target.limits.request_timeout_s == 30
    assert (target.launch, target.control, target.merchant, target.projects) == (None, None, None, ())


def test_every_key_of_a_gateway_is_read(read, tmp_path, texts):
    for name in ("ca.pem", "cert.pem", "key.pem"):
        (tmp_path / name).write_text("-----BEGIN CERTIFICATE-----\n")
    target = read(
        texts.gateway
        + """
ca_file = "ca.pem"
headers = { X-Staging = "1" }
client_cert_file = "cert.pem"
client_key_file = "key.pem"
origins = ["https://IDP.example", "http://localhost:9000"]
[launch]
command = ["node", "gateway.mjs"]
cwd = "."
restart = true
ready_url = "http://127.0.0.1:8445/control"
timeout_s = 20
env = { LOG = "debug" }
[control]
url = "http://127.0.0.1:8445/control"
token_env = "CONTROL_TOKEN"
[sign_in]
kind = "forms"
extra_scopes = ["ext_token:read"]
command = ["./sign-in"]
[[sign_in.step]]
url_contains = "/login"
fill = { username = "{login}", password = "{password}" }
press = "Sign in"
[[users]]
name = "alice"
login = "alice@merchant.example"
password_env = "ALICE_PASSWORD"
[merchant]
listen = "127.0.0.1:0"
public_url = "https://merchant.test:9443/"
ca_file = "ca.pem"
tls_cert_file = "cert.pem"
tls_key_file = "key.pem"
[limits]
code_lifetime_s = 10
request_timeout_s = 5.5
"""
        + texts.static
    )

    assert target.reach.ca_file == tmp_path / "ca.pem"
    assert target.reach.client_cert == (tmp_path / "cert.pem", tmp_path / "key.pem")
    assert target.reach.headers == {"X-Staging": "1"}
    assert target.launch.command == ("node", "gateway.mjs")
    assert target.launch.cwd == tmp_path
    assert target.launch.restart
    assert target.reach.origins == ("https://idp.example", "http://localhost:9000")
    assert target.control.token.reveal() == "control-s3cret"
    assert target.control.reach.ca_file == tmp_path / "ca.pem"
    assert not target.control.reach.headers
    assert target.control.reach.client_cert is None
    assert target.sign_in.steps[0].press == "Sign in"
    assert target.users[0].password.reveal() == "alice-s3cret"
    assert target.merchant.listen == Address(host="127.0.0.1", port=0)
    assert target.merchant.public_url == "https://merchant.test:9443"
    assert target.merchant.files.tls_key_file == tmp_path / "key.pem"
    assert target.limits.code_lifetime_s == 10
    assert target.projects[0].resources[0].jwks_uri.endswith("?x=1")
    assert target.projects[0].proxy_clients[0].secret.reveal() == "proxy-s3cret"
    assert target.projects[0].proxy_clients[0].state == "active"
    assert "s3cret" not in repr(target)
    assert "debug" not in repr(target)


def test_a_control_on_the_targets_own_origin_gets_its_headers(read, texts):
    target = read(
        texts.gateway
        + """
headers = { X-Staging = "1" }
[control]
url = "https://127.0.0.1:8443/_control"
"""
    )

    assert target.control.reach.headers == {"X-Staging": "1"}


def test_a_service_and_its_world_are_read(read, tmp_path, texts):
    target = read(
        texts.service
        + """
json = { limit = 3 }
[world]
listen = "[::1]:9443"
public_url = "https://gateway.test:9443"
proxy_client_id = "proxy_1"
proxy_client_secret_env = "PROXY_1_SECRET"
[logs]
files = ["service.log"]
"""
    )

    assert isinstance(target, ServiceTarget)
    assert (target.operation.method, target.operation.json) == ("POST", {"limit": 3})
    assert target.world.listen == Address(host="::1", port=9443)
    assert target.world.proxy_client_secret.reveal() == "proxy-s3cret"
    assert target.logs.files == (tmp_path / "service.log",)


def test_an_agent_is_read(read, tmp_path, texts):
    target = read(texts.agent)

    assert isinstance(target, AgentTarget)
    assert target.launch.cwd == tmp_path


def test_a_file_that_cannot_be_read_gets_one_line(tmp_path):
    binary = tmp_path / "binary.toml"
    binary.write_bytes(b"\xff\xfe")
    for path, part in (
        (tmp_path / "gone.toml", "no such file"),
        (tmp_path, "a folder"),
        (binary, "not UTF-8"),
    ):
        with pytest.raises(TargetError, match=part) as caught:
            load(path)
        assert str(path) in str(caught.value)
        assert "\n" not in str(caught.value)


def test_a_byte_order_mark_is_no_mistake(tmp_path, texts):
    (tmp_path / "bom.toml").write_text("\ufeff" + texts.agent, encoding="utf-8")

    assert load(tmp_path / "bom.toml").name == "acme-agent"
