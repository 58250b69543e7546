"""Free ports in target files: `{port}` and `{port:NAME}`."""

from __future__ import annotations

from contextlib import ExitStack
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from gateproof.conformance.targets.errors import TargetError
from gateproof.conformance.targets.file import load, own_copy
from gateproof.conformance.targets.model import AgentTarget, GatewayTarget, ServiceTarget
from gateproof.conformance.targets.ports import may_run_twice

GATEWAY = """
[target]
role = "gateway"
name = "acme"
base_url = "http://127.0.0.1:{port}"
core_url = "http://127.0.0.1:{port:core}/core"
[launch]
command = ["gateway", "--listen={port}", "--core", "{port:core}", "--also", "{service_url}"]
env = { CONTROL = "{port:control-1}" }
[control]
url = "http://127.0.0.1:{port:control-1}/control"
"""


def written(folder: Path, text: str) -> Path:
    (folder / "target.toml").write_text(text)
    return folder / "target.toml"


def test_one_name_is_one_port_throughout(tmp_path: Path) -> None:
    target = load(written(tmp_path, GATEWAY), draw=iter([1001, 1002, 1003]).__next__)

    assert isinstance(target, GatewayTarget)
    assert (target.base_url, target.core_url) == ("http://127.0.0.1:1001", "http://127.0.0.1:1002/core")
    assert target.launch is not None
    assert target.launch.command == ("gateway", "--listen=1001", "--core", "1002", "--also", "{service_url}")
    assert target.control is not None
    assert target.control.url == f"http://127.0.0.1:{target.launch.env['CONTROL']}/control"
    assert (target.open_ports, target.may_run_twice) == (True, True)


def test_each_copy_has_ports_of_its_own(tmp_path: Path) -> None:
    given = load(written(tmp_path, GATEWAY))
    with ExitStack() as stack:
        copies = [own_copy(given, stack) for _ in range(3)]
    urls = {each.base_url for each in copies if isinstance(each, GatewayTarget)}
    assert len(urls) == 3


def test_file_without_free_ports_is_as_ever(tmp_path: Path) -> None:
    text = (
        GATEWAY.replace("{port:core}", "8444").replace("{port:control-1}", "8445").replace("{port}", "8443")
    )
    target = load(written(tmp_path, text))
    with ExitStack() as stack:
        assert own_copy(target, stack) is target
    assert not target.may_run_twice


def test_port_of_a_target_that_runs_already_is_not_drawn(tmp_path: Path) -> None:
    text = GATEWAY.partition("[launch]")[0]
    with pytest.raises(TargetError, match=r"found '\{port\}' without \[launch\]"):
        load(written(tmp_path, text))


@pytest.mark.parametrize(
    "change",
    [
        ("http://127.0.0.1:{port:core}/core", "http://127.0.0.1:8444"),
        ("http://127.0.0.1:{port:control-1}/control", "http://127.0.0.1:8445/control"),
        ("[control]", '[sign_in]\nkind = "manual"\n[control]'),
        ("[control]", '[merchant]\nlisten = "127.0.0.1:9443"\n[control]'),
    ],
)
def test_target_that_would_meet_itself_is_launched_once(change: tuple[str, str], tmp_path: Path) -> None:
    target = load(written(tmp_path, GATEWAY.replace(*change)))
    assert (target.open_ports, target.may_run_twice) == (True, False)


@pytest.mark.parametrize(
    ("document", "twice"),
    [
        ({"target": {"service_url": "http://127.0.0.1:{port}"}, "launch": {}}, True),
        (
            {"target": {"service_url": "http://127.0.0.1:{port}", "metadata_url": "http://127.0.0.1:1/x"}},
            False,
        ),
        (
            {"target": {"service_url": "http://127.0.0.1:{port}"}, "launch": {}, "logs": {"files": ["x"]}},
            False,
        ),
        (
            {"target": {"service_url": "http://x:{port}"}, "launch": {}, "world": {"listen": "x:{port:w}"}},
            True,
        ),
    ],
)
def test_service_that_can_be_started_more_than_once(document: dict[str, Any], twice: bool) -> None:
    assert may_run_twice(document) is twice


@pytest.mark.parametrize("role", ["service", "agent"])
def test_every_role_may_leave_ports_open(role: str, tmp_path: Path) -> None:
    numbers = count(2000)
    texts = {
        "service": '[target]\nrole = "service"\nname = "s"\nservice_url = "http://127.0.0.1:{port}"\n'
        '[launch]\ncommand = ["s", "{port}"]\n[operation]\nkind = "http"\npath = "/orders"\n',
        "agent": '[target]\nrole = "agent"\nname = "a"\n[launch]\ncommand = ["a", "{port}"]\n',
    }
    target = load(written(tmp_path, texts[role]), draw=numbers.__next__)
    assert isinstance(target, ServiceTarget | AgentTarget)
    assert target.launch is not None
    assert target.launch.command[1] == "2000"
