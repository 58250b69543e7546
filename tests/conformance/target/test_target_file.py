"""Target files: what is read out of good ones, and the one line that bad ones get."""

from pathlib import Path

import pytest

from conformance.target.errors import TargetError
from conformance.target.file import load
from conformance.target.model import Address, AgentTarget, GatewayTarget, ServiceTarget

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
ENV = {"PROXY_1_SECRET": "proxy-s3cret", "ALICE_PASSWORD": "alice-s3cret", "CONTROL_TOKEN": "control-s3cret"}


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


def test_a_gateway_needs_no_more_than_its_addresses(read):
    target = read(GATEWAY)

    assert isinstance(target, GatewayTarget)
    assert target.base_url == "https://127.0.0.1:8443"
    assert target.core_url == "https://localhost:8444"
    assert [user.name for user in target.users] == ["alice", "bob"]
    assert target.sign_in.kind == "forms"
    assert target.limits.request_timeout_s == 30
    assert (target.launch, target.control, target.merchant, target.projects) == (None, None, None, ())


def test_every_key_of_a_gateway_is_read(read, tmp_path):
    for name in ("ca.pem", "cert.pem", "key.pem"):
        (tmp_path / name).write_text("-----BEGIN CERTIFICATE-----\n")
    target = read(
        GATEWAY
        + """
ca_file = "ca.pem"
headers = { X-Staging = "1" }
client_cert_file = "cert.pem"
client_key_file = "key.pem"
[launch]
command = ["node", "gateway.mjs"]
cwd = "."
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
        + STATIC
    )

    assert target.reach.ca_file == tmp_path / "ca.pem"
    assert target.reach.client_cert == (tmp_path / "cert.pem", tmp_path / "key.pem")
    assert target.reach.headers == {"X-Staging": "1"}
    assert target.launch.command == ("node", "gateway.mjs")
    assert target.launch.cwd == tmp_path
    assert target.control.token.reveal() == "control-s3cret"
    assert target.control.ca_file == tmp_path / "ca.pem"
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


def test_a_service_and_its_world_are_read(read, tmp_path):
    target = read(
        SERVICE
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


def test_an_agent_is_read(read, tmp_path):
    target = read(AGENT)

    assert isinstance(target, AgentTarget)
    assert target.launch.cwd == tmp_path


def test_the_line_of_the_contract(complaint):
    text = GATEWAY + '[[projects]]\nid = "x"\nproxy_cilents = []\n'

    assert complaint(text) == (
        "acme.toml: unknown key 'proxy_cilents' in [[projects]]; did you mean 'proxy_clients'?"
    )


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        pytest.param(GATEWAY + "[lanch]\n", ["'lanch'", "did you mean 'launch'"], id="unknown table"),
        pytest.param(
            GATEWAY + "zzz = 1\n", ["'zzz' in [target]", "nearest known key"], id="far from every key"
        ),
        pytest.param(
            GATEWAY + "[operation]\n", ["'operation'", "role service"], id="a table of another role"
        ),
        pytest.param(
            GATEWAY + '[[users]]\nname="a"\nlogin="b"\npassword="alice-s3cret"\n',
            ["'password'", "environment variables", "'password_env'"],
            id="a password in the file",
        ),
        pytest.param(
            GATEWAY + '[control]\nurl="http://localhost:1/"\ntoken="control-s3cret"\n',
            ["'token'", "environment variables", "'token_env'"],
            id="a token in the file",
        ),
        pytest.param(
            GATEWAY + 'secret = "hunter-s3cret"\n',
            ["'secret'", "environment variables"],
            id="a secret anywhere",
        ),
        pytest.param(
            GATEWAY + '[[users]]\nname="a"\nlogin="b"\npassword_env="my-s3cret!"\n',
            ["password_env", "no variable's name"],
            id="the secret where its variable belongs",
        ),
        pytest.param(
            GATEWAY + '[[users]]\nname="a"\nlogin="b"\npassword_env="NOT_THERE"\n',
            ["[[users]] password_env", "NOT_THERE not set"],
            id="variable missing",
        ),
        pytest.param(
            GATEWAY + '[control]\nurl="http://localhost:1/"\ntoken_env="EMPTY"\n',
            ["[control] token_env", "EMPTY empty"],
            id="variable empty",
        ),
        pytest.param(GATEWAY + "base_url = 5\n", ["TOML"], id="a key twice"),
        pytest.param("[target]\nrole = \n", ["line 2"], id="no TOML"),
        pytest.param("", ["[target]", "nothing"], id="empty"),
        pytest.param("target = 3\n", ["[target]", "an integer", "a table"], id="target is no table"),
        pytest.param("[target]\nname = 'x'\n", ["[target] role", "nothing"], id="no role"),
        pytest.param(
            "[target]\nrole = 'gatway'\n",
            ["'gatway'", "'gateway', 'service', 'agent'", "did you mean"],
            id="role",
        ),
        pytest.param("[target]\nrole = ['gateway']\n", ["[target] role", "an array"], id="role is no string"),
        pytest.param(GATEWAY.replace("core_url", "#"), ["[target] core_url", "nothing"], id="no core_url"),
        pytest.param(GATEWAY.replace("base_url", "#"), ["[target] base_url", "nothing"], id="no base_url"),
        pytest.param(SERVICE.partition("[operation]")[0], ["operation", "nothing"], id="no operation"),
        pytest.param(SERVICE.replace("service_url", "#"), ["[target] service_url"], id="no service_url"),
        pytest.param(AGENT.partition("[launch]")[0], ["launch", "nothing"], id="no launch"),
        pytest.param(
            AGENT.replace('["agent"]', '"agent"'), ["command", "a string", "array of strings"], id="string"
        ),
        pytest.param(AGENT.replace('["agent"]', "[]"), ["command", "an empty array"], id="empty command"),
        pytest.param(
            AGENT.replace('"agent"]', '"agent", 3]'), ["command", "an integer in the array"], id="mixed"
        ),
        pytest.param(AGENT + "timeout_s = 0\n", ["timeout_s", "0"], id="no time"),
        pytest.param(AGENT + "timeout_s = true\n", ["timeout_s", "a boolean"], id="boolean seconds"),
        pytest.param(AGENT + "timeout_s = nan\n", ["timeout_s", "nan"], id="nan seconds"),
        pytest.param(AGENT + "env = { A = 1 }\n", ["env", "an integer under 'A'"], id="env of integers"),
        pytest.param(
            SERVICE + 'tool = "x"\n', ["[operation] tool", "kind is 'http'"], id="keys of the other kind"
        ),
        pytest.param(
            SERVICE.replace('"http"', '"mcp"'), ["[operation] tool", "nothing"], id="mcp without a tool"
        ),
        pytest.param(SERVICE.replace('"/orders"', '"orders"'), ["[operation] path"], id="relative path"),
        pytest.param(SERVICE + "json = { a = 2026-01-01 }\n", ["[operation] json", "a date"], id="no JSON"),
        pytest.param(
            SERVICE + '[world]\nproxy_client_id = "x"\n',
            ["proxy_client_secret_env", "together"],
            id="half a client",
        ),
        pytest.param(
            SERVICE + '[world]\nlisten = "127.0.0.1"\n',
            ["[world] listen", "'127.0.0.1'"],
            id="listen without port",
        ),
        pytest.param(
            SERVICE + '[world]\nlisten = "::1:80"\n', ["[world] listen"], id="listen without brackets"
        ),
        pytest.param(
            SERVICE + '[world]\nlisten = "x:70000"\n', ["[world] listen", "70000"], id="listen too high"
        ),
        pytest.param(GATEWAY + "[control]\n", ["[control]", "neither url nor command"], id="empty control"),
        pytest.param(
            GATEWAY + '[control]\nurl="http://localhost:1/"\ncommand=["x"]\n',
            ["both url and command"],
            id="two ways",
        ),
        pytest.param(GATEWAY + '[sign_in]\nkind = "form"\n', ["'form'", "'forms'"], id="sign-in kind"),
        pytest.param(
            GATEWAY + '[sign_in]\nkind = "command"\n', ["[sign_in] command"], id="sign-in without command"
        ),
        pytest.param(
            GATEWAY + '[sign_in]\nkind = "control"\n', ["[sign_in] kind", "[control]"], id="no control"
        ),
        pytest.param(
            GATEWAY + '[[sign_in.step]]\nurl_contains = "/x"\n', ["[[sign_in.step]]", "fill"], id="idle step"
        ),
        pytest.param(
            GATEWAY + '[[sign_in.step]]\nfill = { u = "{user}" }\n', ["'user'", "{login}"], id="placeholder"
        ),
        pytest.param(GATEWAY + "users = {}\n", ["'users'"], id="users in the wrong table"),
        pytest.param(GATEWAY + "[users]\n", ["users", "a table", "array of tables"], id="one table for many"),
        pytest.param(
            GATEWAY + "[[launch]]\n", ["launch", "array of tables", "a table"], id="many tables for one"
        ),
        pytest.param(
            GATEWAY + '[[users]]\nname="a"\nlogin="b"\n[[users]]\nname="a"\nlogin="c"\n',
            ["'a' twice"],
            id="twins",
        ),
        pytest.param(
            GATEWAY + '[merchant]\npublic_url = "http://127.0.0.1:9"\n',
            ["public_url", "https"],
            id="merchant scheme",
        ),
        pytest.param(
            GATEWAY + '[merchant]\ntls_cert_file = "acme.toml"\n',
            ["tls_cert_file", "PEM"],
            id="no certificate",
        ),
        pytest.param(
            GATEWAY + 'ca_file = "gone.pem"\n', ["[target] ca_file", "'gone.pem'"], id="CA not there"
        ),
        pytest.param(GATEWAY + 'ca_file = "."\n', ["[target] ca_file", "a folder"], id="CA is a folder"),
        pytest.param(GATEWAY + "headers = { 'a b' = 'x' }\n", ["header name"], id="header name"),
        pytest.param(
            GATEWAY + 'headers = { Authorization = "s3cret\\n" }\n',
            ["Authorization", "one line"],
            id="header value",
        ),
        pytest.param(
            GATEWAY + STATIC.replace("indicator", "#"), ["indicator", "nothing"], id="half a Resource"
        ),
        pytest.param(
            GATEWAY + STATIC.replace("agent_policy", "#"), ["agent_policy", "nothing"], id="no policy"
        ),
        pytest.param(GATEWAY + STATIC.replace('"approve"', '"ask"'), ["agent_policy", "'ask'"], id="policy"),
        pytest.param(GATEWAY + STATIC + 'state = "gone"\n', ["state", "'gone'", "'revoked'"], id="state"),
        pytest.param(
            GATEWAY + "[merchant]\n" + STATIC.replace("merchant_client_id", "#"),
            ["merchant_client_id", "[merchant]"],
            id="a merchant that the gateway has no name for",
        ),
        pytest.param(
            GATEWAY + STATIC + STATIC.replace('"approve"', '"ask"'), ["[[projects]] number 2"], id="which one"
        ),
    ],
)
def test_a_wrong_file_gets_one_line_that_says_what_is_wrong(complaint, text, parts):
    message = complaint(text, {**ENV, "EMPTY": ""})

    assert [part for part in parts if part not in message] == [], message


@pytest.mark.parametrize(
    ("url", "part"),
    [
        ("127.0.0.1:8443", "absolute URL"),
        ("ftp://127.0.0.1", "absolute URL"),
        ("https://", "absolute URL"),
        ("http://gateway.example", "plain http is for loopback"),
        ("http://127.0.0.1.example", "plain http is for loopback"),
        ("https://gateway.example?x=s3cret", "without a query"),
        ("https://gateway.example/#x", "without a fragment"),
        ("https://user:s3cret@gateway.example", "user name or password"),
        ("https://gateway.example:99999", "makes no sense"),
        ("https://gateway.example:0", "port 0"),
        ("https://gate way.example", "spaces"),
        ("https://[::1", "makes no sense"),
        ("https://gateway.example\\\\@evil.example", "back slashes"),
        ("", "an empty string"),
    ],
)
def test_addresses_are_absolute_and_plain(complaint, url, part):
    message = complaint(GATEWAY.replace("https://127.0.0.1:8443/", url))

    assert "[target] base_url" in message
    assert part in message


@pytest.mark.parametrize("host", ["127.0.0.1", "127.8.9.10", "[::1]", "localhost"])
def test_plain_http_is_allowed_on_loopback(read, host):
    assert read(GATEWAY.replace("https://127.0.0.1", f"http://{host}")).base_url == f"http://{host}:8443"


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


def test_a_byte_order_mark_is_no_mistake(tmp_path):
    (tmp_path / "bom.toml").write_text("\ufeff" + AGENT, encoding="utf-8")

    assert load(tmp_path / "bom.toml").name == "acme-agent"
