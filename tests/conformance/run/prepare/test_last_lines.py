"""A launched target that ends at once: the last lines of a gateway are shown, and no credential in them."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from static_projects import static_project

from gateproof.conformance.cli import main
from gateproof.conformance.wire.ports import free_ports

# Words and signs: nothing in them looks like a credential, so each has to be known.
SECRETS = {
    "CONTROL_TOKEN": 'correct"horse&battery/staple',
    "ALICE_PASSWORD": "Tr\\oub'a<dor",
    "PROXY_1_SECRET": "open sesame, now",
    # What whoever runs gateproof has in the environment, and the target finds there, too.
    "ORDERS_DB_PASSWORD": "Summer-2024-x",
}
TARGET = """
[target]
role = "gateway"
name = "short-lived"
base_url = "http://127.0.0.1:{port}"
core_url = "http://127.0.0.1:{port}"
[launch]
command = {command}
[control]
url = "http://127.0.0.1:{port}/control"
token_env = "CONTROL_TOKEN"
[[users]]
name = "alice"
login = "alice@merchant.example"
password_env = "ALICE_PASSWORD"
"""
# A line of a key, of which no part looks like a credential by itself.
KEY = "Kx7aQp2/"
# Secrets that nothing else has told.
IN_AN_ADDRESS, NAMED = "Winter-1999", "hunter2"
BEGIN = f"""
import html, json, os
secrets = {{name: os.environ[name] for name in {tuple(SECRETS)!r}}}
key = "-----BEGIN PRIVATE KEY-----\\n" + "{KEY * 8}\\n" * 30 + "-----END PRIVATE KEY-----"
"""
END = """
print("that is all")
raise SystemExit(3)
"""
PRINTS = {
    "as it is": "for name in secrets: print(name, '=', secrets[name])",
    "in Python's way": "print(secrets)",
    "as a log in JSON": "print(json.dumps({'msg': json.dumps(secrets), 'environment': secrets}))",
    "as a page": "print(html.escape(str(secrets)), *map(html.escape, secrets.values()))",
    "in an address": f"print('postgres://app:{IN_AN_ADDRESS}@db/orders')",
    "with their names": f"print('DB_PASSWORD={NAMED}', 'token: {NAMED}', {{'api_key': '{NAMED}'}})",
    "as a key of many lines": "print(key)",
    "in lines that are cut": "for name in secrets: print(secrets[name], 'and so on ' * 700, sep='')",
    "in one line that is cut": "print(secrets['CONTROL_TOKEN'] + 'x ' * ((8192 - 12 - 10) // 2), end='')",
}


@pytest.fixture
def target(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name, value in SECRETS.items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(tmp_path)
    (port,) = free_ports(1)
    file = tmp_path / "target.toml"
    text = TARGET.format(port=port, command=json.dumps([sys.executable, "gateway.py"]))
    file.write_text(text + static_project(f"http://127.0.0.1:{port}"))
    return file


def pieces() -> set[str]:
    """What nobody may read: of a secret not even a part of eight characters."""
    return {KEY, IN_AN_ADDRESS, NAMED} | {
        value[at : at + 8] for value in SECRETS.values() for at in range(len(value) - 7)
    }


def everything(capsys: pytest.CaptureFixture[str]) -> str:
    """What stood on the terminal, and what was written."""
    files = [file.read_text(errors="replace") for file in Path("report").rglob("*") if file.is_file()]
    return "\n".join([*capsys.readouterr(), *files])


@pytest.mark.parametrize("prints", PRINTS.values(), ids=PRINTS.keys())
def test_no_credential_is_shown_of_what_the_target_printed_last(
    prints: str, target: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target.with_name("gateway.py").write_text(f"{BEGIN}{prints}{END}")

    assert main(["run", "--target", str(target), "--only", "DISC-01", "--out", "report"]) == 3

    shown = everything(capsys)
    assert "that is all" in shown
    assert [piece for piece in pieces() if piece in shown] == []


def test_doctor_shows_the_last_lines_without_speaking_to_the_terminal(
    target: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    prints = "print(secrets, '\\033]0;owned\\007'); print('::error::owned')"
    target.with_name("gateway.py").write_text(f"{BEGIN}{prints}{END}")

    assert main(["doctor", "--target", str(target)]) == 3

    shown = everything(capsys)
    assert "that is all" in shown
    assert [piece for piece in pieces() if piece in shown] == []
    assert "\033" not in shown
    assert "\n::error" not in shown


OTHERS = {
    "service": """
[target]
role = "service"
name = "short-lived"
service_url = "https://127.0.0.1:{port}"
[launch]
command = {command}
[operation]
kind = "http"
path = "/orders"
""",
    "agent": """
[target]
role = "agent"
name = "short-lived"
[launch]
command = {command}
""",
}


@pytest.mark.parametrize("role", OTHERS)
@pytest.mark.parametrize(
    "command", [["run", "--out", "report", "--only", "[AM]*-01"], ["doctor"]], ids=" ".join
)
def test_nothing_is_shown_of_what_a_service_or_an_agent_printed(
    role: str,
    command: list[str],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    (port,) = free_ports(1)
    program = tmp_path / "program.py"
    program.write_text("import os\nprint('open sesame, now', dict(os.environ))\nraise SystemExit(3)")
    file = tmp_path / "target.toml"
    file.write_text(OTHERS[role].format(port=port, command=json.dumps([sys.executable, str(program)])))

    main([*command, "--target", str(file)])

    shown = everything(capsys)
    assert "exit code 3" in shown
    assert "open sesame" not in shown
