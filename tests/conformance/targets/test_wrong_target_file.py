"""A wrong target file of a service or an agent, or of no role, gets one line that says what is wrong."""

import pytest


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        pytest.param(lambda _: "[target]\nrole = \n", ["line 2"], id="no TOML"),
        pytest.param(lambda _: "", ["[target]", "nothing"], id="empty"),
        pytest.param(
            lambda _: "target = 3\n", ["[target]", "an integer", "a table"], id="target is no table"
        ),
        pytest.param(lambda _: "[target]\nname = 'x'\n", ["[target] role", "nothing"], id="no role"),
        pytest.param(
            lambda _: "[target]\nrole = 'gatway'\n",
            ["'gatway'", "'gateway', 'service', 'agent'", "did you mean"],
            id="role",
        ),
        pytest.param(
            lambda _: "[target]\nrole = ['gateway']\n", ["[target] role", "an array"], id="role is no string"
        ),
        pytest.param(
            lambda t: t.service.partition("[operation]")[0], ["operation", "nothing"], id="no operation"
        ),
        pytest.param(
            lambda t: t.service.replace("service_url", "#"), ["[target] service_url"], id="no service_url"
        ),
        pytest.param(lambda t: t.agent.partition("[launch]")[0], ["launch", "nothing"], id="no launch"),
        pytest.param(
            lambda t: t.agent.replace('["agent"]', '"agent"'),
            ["command", "a string", "array of strings"],
            id="string",
        ),
        pytest.param(
            lambda t: t.agent.replace('["agent"]', "[]"), ["command", "an empty array"], id="empty command"
        ),
        pytest.param(
            lambda t: t.agent.replace('"agent"]', '"agent", 3]'),
            ["command", "an integer in the array"],
            id="mixed",
        ),
        pytest.param(lambda t: t.agent + "timeout_s = 0\n", ["timeout_s", "0"], id="no time"),
        pytest.param(
            lambda t: t.agent + "timeout_s = true\n", ["timeout_s", "a boolean"], id="boolean seconds"
        ),
        pytest.param(
            lambda t: t.agent + "restart = 1\n",
            ["[launch] restart", "an integer", "true or false"],
            id="restart",
        ),
        pytest.param(
            lambda t: t.service.replace("service_url", 'origins = "https://a"\nservice_url'),
            ["[target] origins", "a string", "an array of origins"],
            id="origins in a string",
        ),
        pytest.param(
            lambda t: t.service.replace("service_url", 'origins = ["https://a/b"]\nservice_url'),
            ["[target] origins", "'https://a/b'", "no path"],
            id="origin with a path",
        ),
        pytest.param(
            lambda t: t.service.replace("service_url", 'origins = ["http://a"]\nservice_url'),
            ["[target] origins", "https"],
            id="plain http elsewhere",
        ),
        pytest.param(lambda t: t.agent + "timeout_s = nan\n", ["timeout_s", "nan"], id="nan seconds"),
        pytest.param(
            lambda t: t.agent + "env = { A = 1 }\n", ["env", "an integer under 'A'"], id="env of integers"
        ),
        pytest.param(
            lambda t: t.service + 'tool = "x"\n',
            ["[operation] tool", "kind is 'http'"],
            id="keys of the other kind",
        ),
        pytest.param(
            lambda t: t.service.replace('"http"', '"mcp"'),
            ["[operation] tool", "nothing"],
            id="mcp without a tool",
        ),
        pytest.param(
            lambda t: t.service.replace('"/orders"', '"orders"'), ["[operation] path"], id="relative path"
        ),
        pytest.param(
            lambda t: t.service + "json = { a = 2026-01-01 }\n", ["[operation] json", "a date"], id="no JSON"
        ),
        pytest.param(
            lambda t: t.service + '[world]\nproxy_client_id = "x"\n',
            ["proxy_client_secret_env", "together"],
            id="half a client",
        ),
        pytest.param(
            lambda t: t.service + '[world]\nlisten = "127.0.0.1"\n',
            ["[world] listen", "'127.0.0.1'"],
            id="listen without port",
        ),
        pytest.param(
            lambda t: t.service + '[world]\nlisten = "::1:80"\n',
            ["[world] listen"],
            id="listen without brackets",
        ),
        pytest.param(
            lambda t: t.service + '[world]\nlisten = "x:70000"\n',
            ["[world] listen", "70000"],
            id="listen too high",
        ),
    ],
)
def test_a_wrong_file_gets_one_line_that_says_what_is_wrong(complaint, texts, text, parts):
    message = complaint(text(texts))

    assert [part for part in parts if part not in message] == [], message
