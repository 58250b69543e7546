"""A wrong target file of a gateway gets one line that says what is wrong with it."""

import pytest


def test_the_line_of_the_contract(complaint, texts):
    text = texts.gateway + '[[projects]]\nid = "x"\nproxy_cilents = []\n'

    assert complaint(text) == (
        "acme.toml: unknown key 'proxy_cilents' in [[projects]]; did you mean 'proxy_clients'?"
    )


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        pytest.param(
            lambda t: t.gateway + "[lanch]\n", ["'lanch'", "did you mean 'launch'"], id="unknown table"
        ),
        pytest.param(
            lambda t: t.gateway + "zzz = 1\n",
            ["'zzz' in [target]", "nearest known key"],
            id="far from every key",
        ),
        pytest.param(
            lambda t: t.gateway + "[operation]\n",
            ["'operation'", "role service"],
            id="a table of another role",
        ),
        pytest.param(
            lambda t: t.gateway + '[[users]]\nname="a"\nlogin="b"\npassword="alice-s3cret"\n',
            ["'password'", "environment variables", "'password_env'"],
            id="a password in the file",
        ),
        pytest.param(
            lambda t: t.gateway + '[control]\nurl="http://localhost:1/"\ntoken="control-s3cret"\n',
            ["'token'", "environment variables", "'token_env'"],
            id="a token in the file",
        ),
        pytest.param(
            lambda t: t.gateway + 'secret = "hunter-s3cret"\n',
            ["'secret'", "environment variables"],
            id="a secret anywhere",
        ),
        pytest.param(
            lambda t: t.gateway + '[[users]]\nname="a"\nlogin="b"\npassword_env="my-s3cret!"\n',
            ["password_env", "not a variable name"],
            id="the secret where its variable belongs",
        ),
        pytest.param(
            lambda t: t.gateway + '[[users]]\nname="a"\nlogin="b"\npassword_env="NOT_THERE"\n',
            ["[[users]] password_env", "NOT_THERE not set"],
            id="variable missing",
        ),
        pytest.param(
            lambda t: t.gateway + '[control]\nurl="http://localhost:1/"\ntoken_env="EMPTY"\n',
            ["[control] token_env", "EMPTY empty"],
            id="variable empty",
        ),
        pytest.param(lambda t: t.gateway + "base_url = 5\n", ["TOML"], id="a key twice"),
        pytest.param(
            lambda t: t.gateway.replace("core_url", "#"), ["[target] core_url", "nothing"], id="no core_url"
        ),
        pytest.param(
            lambda t: t.gateway.replace("base_url", "#"), ["[target] base_url", "nothing"], id="no base_url"
        ),
        pytest.param(
            lambda t: t.gateway + "[control]\n", ["[control]", "neither url nor command"], id="empty control"
        ),
        pytest.param(
            lambda t: t.gateway + '[control]\nurl="http://localhost:1/"\ncommand=["x"]\n',
            ["both url and command"],
            id="two ways",
        ),
        pytest.param(
            lambda t: t.gateway + '[sign_in]\nkind = "form"\n', ["'form'", "'forms'"], id="sign-in kind"
        ),
        pytest.param(
            lambda t: t.gateway + '[sign_in]\nkind = "command"\n',
            ["[sign_in] command"],
            id="sign-in without command",
        ),
        pytest.param(
            lambda t: t.gateway + '[sign_in]\nkind = "control"\n',
            ["[sign_in] kind", "[control]"],
            id="no control",
        ),
        pytest.param(
            lambda t: t.gateway + '[[sign_in.step]]\nurl_contains = "/x"\n',
            ["[[sign_in.step]]", "fill"],
            id="idle step",
        ),
        pytest.param(
            lambda t: t.gateway + '[[sign_in.step]]\nfill = { u = "{user}" }\n',
            ["'user'", "{login}"],
            id="placeholder",
        ),
        pytest.param(lambda t: t.gateway + "users = {}\n", ["'users'"], id="users in the wrong table"),
        pytest.param(
            lambda t: t.gateway + "[users]\n",
            ["users", "a table", "array of tables"],
            id="one table for many",
        ),
        pytest.param(
            lambda t: t.gateway + "[[launch]]\n",
            ["launch", "array of tables", "a table"],
            id="many tables for one",
        ),
        pytest.param(
            lambda t: t.gateway + '[[users]]\nname="a"\nlogin="b"\n[[users]]\nname="a"\nlogin="c"\n',
            ["'a' twice"],
            id="twins",
        ),
        pytest.param(
            lambda t: t.gateway + '[merchant]\npublic_url = "http://127.0.0.1:9"\n',
            ["public_url", "https"],
            id="merchant scheme",
        ),
        pytest.param(
            lambda t: t.gateway + '[merchant]\ntls_cert_file = "acme.toml"\n',
            ["tls_cert_file", "PEM"],
            id="no certificate",
        ),
        pytest.param(
            lambda t: t.gateway + 'ca_file = "gone.pem"\n',
            ["[target] ca_file", "'gone.pem'"],
            id="CA not there",
        ),
        pytest.param(
            lambda t: t.gateway + 'ca_file = "."\n', ["[target] ca_file", "a folder"], id="CA is a folder"
        ),
        pytest.param(lambda t: t.gateway + "headers = { 'a b' = 'x' }\n", ["header name"], id="header name"),
        pytest.param(
            lambda t: t.gateway + 'headers = { Authorization = "s3cret\\n" }\n',
            ["Authorization", "one line"],
            id="header value",
        ),
        pytest.param(
            lambda t: t.gateway + t.static.replace("indicator", "#"),
            ["indicator", "nothing"],
            id="half a Resource",
        ),
        pytest.param(
            lambda t: t.gateway + t.static.replace("agent_policy", "#"),
            ["agent_policy", "nothing"],
            id="no policy",
        ),
        pytest.param(
            lambda t: t.gateway + t.static.replace('"approve"', '"ask"'),
            ["agent_policy", "'ask'"],
            id="policy",
        ),
        pytest.param(
            lambda t: t.gateway + t.static + 'state = "gone"\n', ["state", "'gone'", "'revoked'"], id="state"
        ),
        pytest.param(
            lambda t: t.gateway + "[merchant]\n" + t.static.replace("merchant_client_id", "#"),
            ["merchant_client_id", "[merchant]"],
            id="a merchant that the gateway has no name for",
        ),
        pytest.param(
            lambda t: t.gateway + t.static + t.static.replace('"approve"', '"ask"'),
            ["[[projects]] number 2"],
            id="which one",
        ),
    ],
)
def test_a_wrong_file_gets_one_line_that_says_what_is_wrong(complaint, texts, text, parts):
    message = complaint(text(texts))

    assert [part for part in parts if part not in message] == [], message
