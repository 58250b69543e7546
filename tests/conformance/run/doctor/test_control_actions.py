"""`gateproof control check` sees an action that answers and does nothing."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from warm import WARM

from gateproof.conformance.cli import main

CONTROL = str(Path(__file__).with_name("quiet_control.py"))
PASSED_ON = [sys.executable, "-IS", CONTROL, "{port:control}"]
GATEWAY = [*WARM, "gateproof.reference.gateway"]
BASE, CORE, URL = (
    "http://127.0.0.1:{port:base}",
    "http://127.0.0.1:{port:core}",
    "http://127.0.0.1:{port:control}/control",
)


@pytest.fixture
def tried(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Any:
    def run(broken: str, behaviour: str) -> tuple[int, dict[str, Any]]:
        file = tmp_path / "target.toml"
        addresses = ["--base-url", BASE, "--core-url", CORE, "--control-url", URL]
        file.write_text(
            f'[target]\nrole = "gateway"\nname = "quiet"\nbase_url = "{BASE}"\ncore_url = "{CORE}"\n'
            f'[launch]\ncommand = {json.dumps([*GATEWAY, *addresses])}\nready_url = "{URL}"\n'
            f"[control]\ncommand = {json.dumps([*PASSED_ON, broken, behaviour])}\n"
        )
        code = main(["control", "check", "--target", str(file), "--json"])
        found = json.loads(capsys.readouterr().out)
        return code, {each["action"]: each for each in found["actions"]}

    return run


def test_control_that_does_what_it_says_is_right(tried: Any) -> None:
    code, found = tried("none", "{}")

    assert code == 0
    assert {each["outcome"] for each in found.values()} == {"works", "not supported"}
    assert [name for name, each in found.items() if each["outcome"] == "not supported"] == ["sign_in"]


def test_action_without_its_effect_is_wrong(tried: Any) -> None:
    quiet = {
        "revoke_proxy_client": "expected status 401",
        "approve_agent": "code",
        "withhold_redemption_scope": "expected status 401",
        "advance_clock": "expected status 401",
        "rotate_keys": "a new key",
        "resource_metadata": "no string document",
    }
    code, found = tried(",".join(quiet), "{}")

    assert code == 1
    assert [name for name, each in found.items() if each["outcome"] == "wrong"] == [
        name for name in found if name in quiet
    ]
    assert all(said in found[name]["said"] for name, said in quiet.items())


@pytest.mark.parametrize(
    ("action", "behaviour", "outcome", "said"),
    [
        ("describe", '{"actions": ["revoke_proxyclient"]}', "wrong", "did you mean revoke_proxy_client?"),
        ("create_project", '{"project_id": 3}', "wrong", "no string project_id"),
        ("logs", "64", "not supported", "exit code 64"),
    ],
)
def test_wrong_answer_is_told_from_an_action_that_is_not_offered(
    tried: Any, action: str, behaviour: str, outcome: str, said: str
) -> None:
    found = tried(action, behaviour)[1][action]

    assert found["outcome"] == outcome
    assert said in found["said"]


def test_target_without_control_is_wrong_usage(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "target.toml"
    file.write_text(
        '[target]\nrole = "gateway"\nname = "n"\nbase_url = "http://127.0.0.1:1"\ncore_url = "http://127.0.0.1:1"\n'
    )

    assert main(["control", "check", "--target", str(file)]) == 2
    assert "[control]: found nothing" in capsys.readouterr().err
