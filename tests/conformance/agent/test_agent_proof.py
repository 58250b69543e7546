"""Wrong agents are caught by the right rule, and legal ones are left alone in whatever language."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from warm import WARM

from gateproof.conformance.kit.agent import cooldown, visits
from gateproof.conformance.run.context.embedded import Embedded, embedded_reference
from gateproof.conformance.run.drive.options import RunOptions
from gateproof.conformance.run.drive.session import carry_out
from gateproof.conformance.run.proof.implementations import combinations, subjects
from gateproof.conformance.suite import rules
from gateproof.conformance.suite.proven import proven
from gateproof.conformance.targets.file import load
from gateproof.conformance.targets.model import Target
from gateproof.reports.verdicts import RunResult

HERE = Path(__file__).parent
COMMAND = [*WARM, "gateproof", "prove", "agent", "--workers", "1", "--no-color"]
# A walk through a run, and what agents in other languages stumble over.
WALK = ("AGENT-0[1236]", "AGENT-11")


def judged(
    asked: Target | Embedded, folder: Path, *only: str, chosen: frozenset[str] | None = None
) -> RunResult:
    selected = rules.select(rules.load().for_role("agent"), only)
    options = RunOptions(role="agent", seed=5, only=only, chosen=chosen)
    return carry_out(asked, selected, options, lambda _: None, folder / "report")


def subject(kind: str, name: str) -> Embedded:
    return Embedded(name=name, program=(*WARM, f"gateproof.reference.{kind}s", "agent", name))


def verdicts(result: RunResult) -> dict[str, Any]:
    return {rule.id: (rule.verdict.value, rule.reason) for rule in result.rules}


@pytest.mark.parametrize(
    ("name", "rule", "said"),
    [
        ("endpoints-built-in", "AGENT-01", "exit code 1 and no orders read"),
        ("method-left-out", "AGENT-02", "expected client_secret_post, got nothing"),
        ("plus-for-spaces", "AGENT-03", "%20"),
        ("verifier-half-constant", "AGENT-04", "random bits"),
        ("id-token-sent-along", "AGENT-07", "no id token in them"),
        ("registers-every-time", "AGENT-11", "registrations of a run after the tokens have expired"),
        ("access-token-printed", "AGENT-12", "access token in the output"),
        ("client-secret-printed", "AGENT-14", "client secret in the output"),
        ("authorizes-without-end", "AGENT-15", "stopped after too many requests"),
        ("basic-where-the-token-endpoint-fails", "AGENT-06", "client_id in the body"),
        ("client-forgotten-when-asked-to-end", "AGENT-11", "the run after one that was asked to end"),
        ("gives-up-for-good", "ROBUST-02", "the run after it, whose token is good"),
    ],
)
def test_defect_is_named_for_what_it_is(
    name: str,
    rule: str,
    said: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # Whoever gave up for good is waited for in vain, however long.
    monkeypatch.setattr(cooldown, "BREAKER_S", 0.0)
    known = frozenset(proven("agent").defects[name].checks)
    result = judged(subject("defect", name), tmp_path, rule, chosen=known)

    found = [
        check.message for each in result.rules for check in each.checks if check.verdict.value == "failed"
    ]
    assert any(said in message for message in found), found or verdicts(result)


@pytest.mark.parametrize(
    ("name", "asked"),
    # The others, and the other rules, are the proof's: these two look least like the reference.
    [("over-mcp", ("AGENT-09",)), ("address-printed", ("AGENT-03",))],
)
def test_legal_choice_is_left_alone(
    name: str,
    asked: tuple[str, ...],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(visits, "_AGENT_OPENS_WITHIN_S", 0.3)
    result = judged(subject("variant", name), tmp_path, *asked)

    assert {verdict for verdict, _ in verdicts(result).values()} == {"passed"}, verdicts(result)


def test_reference_is_conformant(tmp_path: Path) -> None:
    result = judged(embedded_reference("agent"), tmp_path, *WALK)

    assert {verdict for verdict, _ in verdicts(result).values()} == {"passed"}, verdicts(result)


@pytest.mark.parametrize(
    ("program", "file"),
    [
        pytest.param("node", "orders_agent.mjs", marks=pytest.mark.needs("node"), id="Node"),
        pytest.param(
            "sh",
            "orders_agent.sh",
            marks=[pytest.mark.needs("curl"), pytest.mark.needs("openssl")],
            id="sh",
        ),
    ],
)
def test_agent_in_another_language_is_conformant(program: str, file: str, tmp_path: Path) -> None:
    command = json.dumps([program, str(HERE / file)])
    target = tmp_path / "agent.toml"
    target.write_text(f'[target]\nrole = "agent"\nname = "orders"\n[launch]\ncommand = {command}\n')

    result = judged(load(target), tmp_path, *WALK)

    assert {verdict for verdict, _ in verdicts(result).values()} == {"passed"}, verdicts(result)


def test_proof_of_agents_is_a_command(tmp_path: Path) -> None:
    done = subprocess.run(
        [*COMMAND, "--quick", "--only", "openid-left-out", "--only", "client-forgotten-when-asked-to-end"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )

    assert done.returncode == 0, done.stdout + done.stderr
    kept = json.loads((tmp_path / "gateproof-proof" / "prove.json").read_text())
    assert kept["role"] == "agent"
    assert kept["figures"]["caught"] == kept["figures"]["defects"] == 2


def test_variants_of_agents_go_together() -> None:
    variants = [each for each in subjects("agent") if each.kind == "variant"]

    for drawn in combinations(variants, 30, seed=1):
        names = drawn.name.split("+")
        decided = [part for each in variants if each.name in names for part in each.decides]
        assert len(decided) == len(set(decided))
