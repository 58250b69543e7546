"""The page says first what matters first, and says no more than is known."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

import pytest
from selectolax.lexbor import LexborHTMLParser, LexborNode

from gateproof.reports.html import render
from gateproof.reports.html_page.labels import KINDS
from gateproof.reports.verdicts import RunResult, RunVerdict, Verdict

Runs = dict[str, Callable[..., RunResult]]


def parsed(result: RunResult) -> LexborHTMLParser:
    return LexborHTMLParser(render(result)["report.html"].decode("utf-8"))


def text(node: LexborNode | LexborHTMLParser | None) -> str:
    assert node is not None
    root = node.body if isinstance(node, LexborHTMLParser) else node
    assert root is not None
    return re.sub(r" (?=[,.:;])", "", " ".join(root.text(separator=" ").split()))


def rule(page: LexborHTMLParser, name: str) -> LexborNode:
    """The element that holds everything about a rule."""
    found = page.css_first(f'[id="{name}"]')
    assert found is not None
    node: LexborNode | None = found
    while node is not None and "data-rule" not in node.attributes:
        node = node.parent
    assert node is not None
    return node


def section(page: LexborHTMLParser, name: str) -> str:
    return text(page.css_first(f'section[aria-labelledby="{name}"]'))


@pytest.mark.parametrize(
    ("verdict", "sign", "word"),
    [
        (RunVerdict.CONFORMANT, "✓", "Conformant"),
        (RunVerdict.NOT_CONFORMANT, "✗", "Not conformant"),
        (RunVerdict.INCOMPLETE, "○", "Incomplete"),
        (RunVerdict.NO_VERDICT, "!", "No verdict"),
    ],
)
def test_verdict_is_a_sign_a_word_and_a_sentence(
    runs: Runs, verdict: RunVerdict, sign: str, word: str
) -> None:
    page = parsed(replace(runs["clean"](), verdict=verdict, reason="for this reason"))

    assert text(page.css_first("h1")) == f"{sign} {word}"
    assert "acme-gateway 2.1.0" in text(page.css_first(".verdict p"))
    assert text(page.css_first(".verdict p")).endswith("as a gateway: for this reason.")
    assert text(page.css_first("h1")) in text(page.css_first("header"))


def test_run_is_told_by_what_repeats_and_proves_it(runs: Runs) -> None:
    page = parsed(runs["every-verdict"]())
    about = section(page, "run")

    for said in (
        "acme-gateway 2.1.0",
        "127.0.0.1:8444",
        "2026-10-19",
        "gateproof 0.1.0",
        "4242",
        "9f86d081884c7d65",
    ):
        assert said in about
    assert page.css_first("#run ~ dl pre.command").text().strip() == "gateproof verify ."
    assert "--key" in about


def test_what_was_not_tested_stands_above_what_passed(runs: Runs) -> None:
    page = parsed(runs["every-verdict"]())
    said = section(page, "untested")
    whole = text(page)

    assert said.startswith("What was not tested 4 of 12 rules were not tested; 3 would decide.")
    assert "○ not-testable 2 needs a control action that moves the target's clock CODE-03, PROXY-07" in said
    assert "! error 1 the harness broke" in said
    assert "left out of 1 rule: DISC-02" in said
    assert whole.index("What was not tested") < whole.index("First failure") < whole.index("Rules by family")
    assert [heading.text().split(" ")[0] for heading in page.css("section.kind > h2")][-3:] == [
        "Passed",
        "Observed",
        "Not",
    ]


def test_first_failure_is_one_that_decides(runs: Runs) -> None:
    said = section(parsed(runs["every-verdict"]()), "first")

    assert said.startswith("First failure ✗ failed REDEEM-03")
    assert "Expected 400 Observed no answer within 30 s" in said


def test_run_without_failures_says_so(runs: Runs) -> None:
    assert section(parsed(runs["clean"]()), "first") == "First failure Nothing failed."
    assert section(parsed(runs["clean"]()), "untested").endswith("Every rule of this run was tested.")


def test_run_that_was_cut_short_says_so_before_anything_else(runs: Runs) -> None:
    said = text(parsed(runs["interrupted"]()).css_first("header"))

    assert said.index("did not finish: interrupted") < said.index("No verdict")


def test_part_of_the_rules_is_called_a_part(runs: Runs) -> None:
    whole = runs["clean"]()
    page = parsed(replace(whole, run={**whole.run, "selection": {"only": ["DISC-*"], "skip": []}}))

    assert "only DISC-*" in section(page, "run")
    assert "This run asked for a part of the rules only" in section(page, "untested")


def test_matrix_leads_to_every_rule_with_sign_and_word(runs: Runs) -> None:
    result = runs["every-verdict"]()
    page = parsed(result)
    cells = [text(cell) for cell in page.css(".matrix td") if cell.text()]

    assert {link.attributes["href"] for link in page.css(".matrix a")} == {
        f"#{each.id}" for each in result.rules
    }
    assert "✗ failed REDEEM- 03 REDEEM- 07" in cells
    assert all(any(cell.startswith(f"{kind.sign} {kind.word}") for kind in KINDS) for cell in cells)
    assert "Gateway: redemption" in text(page.css_first(".matrix"))


def test_faults_stand_by_hop_with_what_came_of_them(runs: Runs) -> None:
    table = parsed(runs["under-faults"]()).css_first("table[aria-labelledby=faults]")
    rows = [[text(cell) for cell in row.css("th, td")] for row in table.css("tbody tr")]

    assert [cell.split()[-1] for cell in map(text, table.css("thead th"))] == [
        "Fault",
        "Hop",
        "Fired",
        "failed",
        "error",
        "passed",
    ]
    assert rows == [
        [
            "answer cut off bytes",
            "gateway to merchant",
            "4 times",
            "✗ failed VAULT-06",
            "",
            "✓ passed VAULT-06",
        ],
        ["answer lost bytes", "gateway to merchant", "once", "✗ failed VAULT-06", "", ""],
        ["drip <b> bytes", "gateway to merchant", "never", "", "! error VAULT-10", ""],
        ["slow body client", "agent to gateway", "16 times", "", "", "✓ passed ROBUST-02 ROBUST-03"],
        ["half request client", "agent to gateway", "once", "", "", "✓ passed ROBUST-02"],
    ]


def test_run_without_faults_has_no_table_of_them(runs: Runs) -> None:
    assert parsed(runs["clean"]()).css_first("table[aria-labelledby=faults]") is None


def test_failure_is_told_in_full(runs: Runs) -> None:
    said = rule(parsed(runs["every-verdict"]()), "REDEEM-07")

    for part in (
        "Must hold",
        "Why it matters",
        "Specification Errors",
        "#REDEEM-07",
        "Expected 401 Observed 200",
    ):
        assert part in text(said)
    commands = [command.text().strip() for command in said.css("pre.command")]
    assert any('-H "Authorization: Bearer ${ID_TOKEN_1}"' in command for command in commands)
    assert "gateproof run gateway --target acme.toml --seed 4242 --only REDEEM-07" in commands
    assert len(said.css("details.exchange")) == 12
    opened = [text(each.css_first("summary")) for each in said.css("details.exchange[open]")]
    assert opened[0] == "10. redemption POST /api/credentials/token → 200 ✗ breaks the rule"


def test_command_repeats_the_choices_of_a_run_that_names_none(runs: Runs) -> None:
    whole = runs["every-verdict"]()
    run = {key: value for key, value in whole.run.items() if key != "command"}

    assert "gateproof run gateway --seed 4242 --only REDEEM-03" in text(parsed(replace(whole, run=run)))


def test_page_says_how_much_was_tried(runs: Runs) -> None:
    result = runs["clean"]()
    usual = replace(result, run={**result.run, "faults": True, "examples": 20})
    less = replace(result, run={**result.run, "faults": False, "examples": 5})

    assert "Faults placed Examples 20 for each rule that has some Seal" in section(parsed(usual), "run")
    said = "Faults left out Examples 5 for each rule that has some, usual are 20 Seal"
    assert said in section(parsed(less), "run")
    assert "Faults" not in section(parsed(result), "run")


def test_rfc_failure_stands_apart_unless_it_decides(runs: Runs) -> None:
    lenient = runs["every-verdict"]()
    strict = replace(lenient, run={**lenient.run, "strict": True})

    assert rule(parsed(lenient), "CODE-11").attributes["data-kind"] == "finding"
    assert "✗ failed (rfc)" in text(rule(parsed(lenient), "CODE-11"))
    assert rule(parsed(strict), "CODE-11").attributes["data-kind"] == "failed"


def test_baselined_failure_is_a_failure_with_a_reason_and_a_day(runs: Runs) -> None:
    said = rule(parsed(runs["every-verdict"]()), "REDEEM-09")

    assert said.attributes["data-kind"] == "baselined"
    assert "✗ failed (baselined)" in text(said)
    assert "fixed with release 2.2, until 2026-12-31" in text(said)


def test_untested_rule_is_nowhere_green(runs: Runs) -> None:
    page = parsed(runs["every-verdict"]())
    untested = rule(page, "CODE-03")

    assert untested.css(".good") == []
    assert "good" not in (untested.attributes["class"] or "")
    assert "Reason: needs a control action" in text(untested)


def test_observed_facts_stand_in_a_table(runs: Runs) -> None:
    said = rule(parsed(runs["every-verdict"]()), "DISC-07")

    assert said.tag == "details"
    assert "open" in said.attributes
    rows = [text(row) for row in said.css(".observed tbody tr")]
    assert rows[0] == "unknown_resource_status 404 what_else_discovery_answers"
    assert rows[2] == "list [1, null] what_else_discovery_answers"
    assert "Recorded" in text(said)


def test_rules_that_went_well_are_folded_with_their_anchor_inside(runs: Runs) -> None:
    page = parsed(runs["every-verdict"]())

    for name in ("DISC-01", "CODE-03", "META-01"):
        assert rule(page, name).tag == "details"
        assert "open" not in rule(page, name).attributes
        assert (page.css_first(f'[id="{name}"]').attributes["class"] or "") == "body"


def test_page_works_for_a_run_of_which_nothing_is_known(runs: Runs) -> None:
    page = parsed(runs["nothing-known"]())

    assert text(page.css_first("h1")) == "! No verdict"
    assert "This run has no rules." in section(page, "untested")
    assert "There is no sealed record" in section(page, "run")


def test_what_only_a_script_can_use_is_hidden_without_one(runs: Runs) -> None:
    assert "hidden" in parsed(runs["every-verdict"]()).css_first("form.filter").attributes


def test_verdict_of_every_rule_is_on_the_page(runs: Runs) -> None:
    result = runs["every-verdict"]()
    page = parsed(result)

    for each in result.rules:
        kind = rule(page, each.id).attributes["data-kind"]
        assert kind in (
            {each.verdict.value} if each.verdict is not Verdict.FAILED else {"failed", "finding", "baselined"}
        )
