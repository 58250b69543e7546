"""With `--names`, gateproof's own parties have names; gateproof itself finds them without a resolver."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from gateproof.conformance.cli import main
from gateproof.conformance.targets.party_names import is_suffix

HOSTS = "127.0.0.1 gateway.agents.test merchant.agents.test service.agents.test"
# For each role, rules whose checks reach every own party, proxies and further merchants among them.
RULES = {
    "gateway": ("AUTHZ-01", "AUTHZ-22", "CLAIM-04", "REDEEM-16", "SECRET-07", "VAULT-06"),
    "service": ("BACK-04", "CHAL-02", "SERVE-01"),
    "agent": ("AGENT-01", "AGENT-04", "AGENT-14"),
}
SERVICE = """
[target]
role = "service"
name = "acme"
service_url = "https://127.0.0.1:8443"
[operation]
kind = "http"
path = "/orders"
[world]
listen = "127.0.0.1:9443"
"""


@pytest.mark.needs("mounts")
@pytest.mark.parametrize("role", RULES)
def test_target_that_resolves_the_names_is_conformant(role: str, tmp_path: Path) -> None:
    (tmp_path / "hosts").write_text(f"127.0.0.1 localhost\n{HOSTS}\n")
    command = [
        "unshare",
        "--mount",
        "--map-root-user",
        "sh",
        "-ec",
        'mount --bind hosts /etc/hosts; exec "$@"',
        "sh",
    ]
    command += [sys.executable, "-m", "gateproof", "run", role, "--names", "agents.test", "--workers", "2"]
    command += [part for rule in RULES[role] for part in ("--only", rule)]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=300, check=False)

    assert done.returncode == 0, done.stdout + done.stderr
    report = json.loads((tmp_path / "gateproof-report" / "report.json").read_text())
    assert {rule["id"]: rule["verdict"] for rule in report["rules"]} == dict.fromkeys(RULES[role], "passed")
    assert "--names agents.test" in report["run"]["command"]


@pytest.mark.parametrize("suffix", ["-x", "a..b", "127.0.0.1", "a b", "*.test", "x" * 64])
def test_suffix_that_is_no_host_name_is_wrong_usage(suffix: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert not is_suffix(suffix)
    with pytest.raises(SystemExit) as ended:
        main(["run", f"--names={suffix}"])
    assert ended.value.code == 2
    assert "expected a host name such as localhost" in capsys.readouterr().err


def test_parties_that_the_target_file_places_have_no_names(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "service.toml").write_text(SERVICE)
    for command in ("run", "doctor"):
        assert main([command, "--target", str(tmp_path / "service.toml"), "--names", "localhost"]) == 2
        assert "here [world] listen does" in capsys.readouterr().err


def test_doctor_says_which_names_this_system_does_not_resolve(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = json.dumps([sys.executable, "-m", "gateproof.reference.agent"])
    (tmp_path / "agent.toml").write_text(
        f'[target]\nrole = "agent"\nname = "acme"\n[launch]\ncommand = {command}\n'
        '[run]\nnames = "nobody.invalid"\n'
    )
    assert main(["doctor", "--target", str(tmp_path / "agent.toml")]) == 0
    said = " ".join(capsys.readouterr().out.split())
    hosts = [f"{party}.nobody.invalid" for party in ("service", "gateway", "merchant")]
    assert f"does not resolve {', '.join(hosts)} to this machine" in said
    assert f"add the line '127.0.0.1 {' '.join(hosts)}' to /etc/hosts" in said
    assert main(["doctor", "--target", str(tmp_path / "agent.toml"), "--names", "", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["unresolved"] == []
