"""The set-up is parsed strictly, and a wrong one is told in one line without secrets."""

from __future__ import annotations

import json
from typing import Any

import pytest

from gateproof.fakes.merchant.config import ConfigError, MerchantConfig, TlsFiles, parse_config
from gateproof.fakes.merchant.users import DEFAULT_USERS

TOKEN = "an-admin-token-of-tests"


def test_defaults() -> None:
    config = parse_config(json.dumps({"admin_token": TOKEN}))
    assert config == MerchantConfig(admin_token=TOKEN)
    assert config.users == DEFAULT_USERS
    assert [user.login for user in config.users] == ["alice@merchant.example", "bob@merchant.example"]


def test_set_up_survives_its_own_writing(tmp_path: Any) -> None:
    for name in ("c.pem", "k.pem"):
        (tmp_path / name).touch()
    config = MerchantConfig(
        admin_token=TOKEN,
        public_url="https://merchant.test:9443",
        tls=TlsFiles(cert_file=tmp_path / "c.pem", key_file=tmp_path / "k.pem"),
        paths="usual",
        seed=11,
        clock_offset_s=12.5,
    )
    assert parse_config(config.to_json()) == config


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"lisen": "x"}, "did you mean 'listen'"),
        ({"listen": "0.0.0.0:1"}, "loopback"),
        ({"listen": "192.0.2.1:1"}, "loopback"),
        ({"listen": "merchant.test:1"}, "loopback"),
        ({"listen": "127.0.0.1"}, "HOST:PORT"),
        ({"listen": "127.0.0.1:70000"}, "HOST:PORT"),
        ({"listen": 9443}, "listen"),
        ({"public_url": "merchant.test"}, "public_url"),
        ({"public_url": "ftp://merchant.test"}, "public_url"),
        ({"tls": {"cert_file": "/nonexistent", "key_file": "/nonexistent"}}, "no such file"),
        ({"tls": {"cert": "x"}}, "did you mean 'cert_file'"),
        ({"paths": "odd"}, "paths"),
        ({"seed": "7"}, "seed"),
        ({"users": {}}, "users"),
        ({"users": [{"name": "a", "login": "b"}]}, "password"),
        ({"users": [{"name": "a", "login": "b", "password": "c"}] * 2}, "same login"),
        ({"target": {"headers": {"a": 1}}}, "headers"),
        ({"target": {"ca": None}}, "unknown key"),
        ({"clock_offset_s": "1"}, "clock_offset_s"),
        ({"admin_token": "short"}, "admin_token"),
    ],
)
def test_wrong_set_ups_are_refused_in_one_line(change: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message) as caught:
        parse_config(json.dumps({"admin_token": TOKEN, **change}))
    assert "\n" not in str(caught.value)


def test_secrets_are_not_told() -> None:
    assert "hunter2" not in repr(parse_config(json.dumps({"admin_token": "hunter2hunter2hunter2"})))
    for text in ('{"admin_token": "hunter2", ', '["hunter2"]'):
        with pytest.raises(ConfigError) as caught:
            parse_config(text)
        assert "hunter2" not in str(caught.value)


@pytest.mark.parametrize("listen", ["127.0.0.1:0", "127.9.9.9:8080", "localhost:0", "[::1]:0"])
def test_loopback_is_taken(listen: str) -> None:
    host, port = parse_config(json.dumps({"admin_token": TOKEN, "listen": listen})).address
    assert "[" not in host
    assert port in (0, 8080)
