"""`gateproof list` and `gateproof explain` show the rules on any terminal."""

from __future__ import annotations

import argparse
import json
from typing import TYPE_CHECKING

import pytest

from gateproof.conformance.cli import explain, rules_list
from gateproof.conformance.suite.rules import load

if TYPE_CHECKING:
    from collections.abc import Callable


@pytest.fixture
def gateproof(capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, str, str]]:
    """Runs a command line through the two commands: exit code, output, errors."""

    def run(*arguments: str) -> tuple[int, str, str]:
        parser = argparse.ArgumentParser(prog="gateproof")
        commands = parser.add_subparsers(required=True)
        rules_list.add_parser(commands)
        explain.add_parser(commands)
        args = parser.parse_args(arguments)
        code = args.handler(args)
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return run


def test_list_shows_every_rule_in_a_hundred_columns(
    gateproof: Callable[..., tuple[int, str, str]],
) -> None:
    code, out, err = gateproof("list")

    assert (code, err) == (0, "")
    lines = out.splitlines()
    assert {line.split()[0] for line in lines if line[:1].isupper()} >= set(load())
    assert max(map(len, lines)) <= 100
    assert "\033" not in out
    assert lines[-1].startswith(f"{len(load())} rules: ")


def test_list_groups_by_family_and_names_needs(gateproof: Callable[..., tuple[int, str, str]]) -> None:
    _, out, _ = gateproof("list", "--only", "CODE-03", "--only", "REG-14")

    lines = out.splitlines()
    assert lines[0] == "Gateway: agent registration"
    assert lines[1].split()[:2] == ["REG-14", "entailed"]
    assert lines[1].endswith("control:advance_clock")
    assert lines[4] == "Gateway: token endpoint, authorization code"
    assert lines[5].endswith("control:advance_clock or")
    assert lines[6].split() == ["limits:code_lifetime_s"]
    assert lines[-1] == "2 rules: 1 spec, 1 entailed"


def test_list_of_a_role(gateproof: Callable[..., tuple[int, str, str]]) -> None:
    _, out, _ = gateproof("list", "agent", "--skip", "agent-1*")

    left = [rule.id for rule in load().for_role("agent") if not rule.id.startswith("AGENT-1")]
    assert out.splitlines()[-1].startswith(f"{len(left)} rules")
    assert "REDEEM" not in out


def test_list_as_json(gateproof: Callable[..., tuple[int, str, str]]) -> None:
    code, out, _ = gateproof("list", "--json")

    rules = json.loads(out)
    assert code == 0
    assert [rule["id"] for rule in rules] == list(load())
    by_id = {rule["id"]: rule for rule in rules}
    assert by_id["CODE-03"] == {
        "id": "CODE-03",
        "level": "spec",
        "roles": ["gateway"],
        "needs": [["control:advance_clock", "limits:code_lifetime_s"]],
        "title": load()["CODE-03"].title,
        "section": "Errors",
    }
    assert by_id["VAULT-01"]["needs"] == ["merchant"]


def test_list_of_nothing(gateproof: Callable[..., tuple[int, str, str]]) -> None:
    assert gateproof("list", "agent", "--skip", "*") == (0, "no rules\n", "")


def test_list_refuses_a_pattern_that_matches_nothing(
    gateproof: Callable[..., tuple[int, str, str]],
) -> None:
    assert gateproof("list", "agent", "--only", "redeem-05") == (
        2,
        "",
        "gateproof list agent: no rule matches 'redeem-05'\n",
    )


@pytest.mark.parametrize("width", [40, 60, 72, 80, 100])
def test_a_table_fits_its_terminal(width: int) -> None:
    rules = tuple(load().values())

    lines = list(rules_list.table(rules, width=width))

    assert max(map(len, lines)) <= width
    text = " ".join(" ".join(lines).split())
    assert {need for rule in rules for group in rule.needs for need in group if need not in text} == set()
    assert all(rule.id in text for rule in rules)


def test_headings_are_bold_on_demand() -> None:
    lines = list(rules_list.table(load().family("TLS"), width=100, bold=True))

    assert lines[0] == "\033[1mTransport security\033[0m"


def test_explain_says_all_there_is_to_say(gateproof: Callable[..., tuple[int, str, str]]) -> None:
    code, out, err = gateproof("explain", "redeem-11")

    rule = load()["REDEEM-11"]
    assert (code, err) == (0, "")
    text = " ".join(out.split())
    for part in (rule.id, rule.title, rule.holds, rule.why, rule.how, rule.section, rule.standard):
        assert part is not None
        assert part in text
    for line in rule.by_hand.splitlines():
        assert f"  {line}\n" in out
    assert "(control:advance_clock)" in text
    assert "$PROXY_TOKEN: a Proxy token of that Proxy client" in out
    assert "$FORGED:" not in out


@pytest.mark.parametrize("width", [30, 50, 88])
def test_every_rule_can_be_laid_out(width: int) -> None:
    for rule in load().values():
        recipe = {f"  {line}" for line in rule.by_hand.splitlines()}
        prose = [line for line in explain.page(rule, width=width) if not recipe & set(line.splitlines())]
        assert max(map(len, prose)) <= width, rule.id


def test_explain_refuses_an_unknown_rule(gateproof: Callable[..., tuple[int, str, str]]) -> None:
    assert gateproof("explain", "VALT-01") == (
        2,
        "",
        "gateproof explain: no rule is called 'VALT-01'; did you mean 'VAULT-01'?\n",
    )
