"""A launched program reaches the harness's parties without the caller's proxy."""

from __future__ import annotations

import pytest

from gateproof.conformance.targets.no_proxy import party_hosts, without_proxy

HERE = "127.0.0.1,localhost"


@pytest.fixture(autouse=True)
def a_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("no_proxy", "http_proxy", "https_proxy", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)
    monkeypatch.setenv("HTTPS_PROXY", "http://proxy.test:3128")


def test_nothing_is_set_without_a_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HTTPS_PROXY")

    assert without_proxy(["a.test"]) == {}


def test_loopback_and_the_parties_are_excluded() -> None:
    assert without_proxy([]) == {"NO_PROXY": HERE, "no_proxy": HERE}
    assert without_proxy(["a.test", "localhost"])["NO_PROXY"] == f"{HERE},a.test"


@pytest.mark.parametrize("name", ["NO_PROXY", "no_proxy"])
def test_what_the_caller_excludes_stays_excluded(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(name, "internal.test,.corp.test")

    assert set(without_proxy([]).values()) == {f"internal.test,.corp.test,{HERE}"}


def test_hosts_of_the_parties() -> None:
    assert party_hosts("", None) == []
    assert party_hosts("", "https://merchant.test:8443/x") == ["merchant.test"]
    assert party_hosts("b.test", None) == ["gateway.b.test", "merchant.b.test", "service.b.test"]
