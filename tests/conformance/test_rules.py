"""The catalogue says what it means, and a mistake in it is named by file, rule and key."""

from __future__ import annotations

import re
import subprocess
import sys
from collections import Counter

import pytest

from gateproof.conformance.checks import index
from gateproof.conformance.suite.recipe_variables import VARIABLES, variables
from gateproof.conformance.suite.rules import CatalogueError, UnknownRuleError, load, parse, select, unmet
from gateproof.conformance.suite.vocabulary import FAMILIES, NEEDS, ROLES
from gateproof.reports.families import family_of

GOOD = """
[DISC-01]
level = "spec"
roles = ["gateway"]
needs = []
title = "Something holds"
holds = "In full."
why = "Because."
section = "Endpoints > Gateway endpoints > Discovery"
how = "By asking."
by_hand = "curl -si https://gateway.example"
"""


def catalogue_of(text: str, name: str = "disc.toml") -> str:
    """The error that this file is refused with."""
    with pytest.raises(CatalogueError) as caught:
        parse([(name, text.encode())])
    return str(caught.value)


def test_every_family_has_rules() -> None:
    assert {family_of(rule_id) for rule_id in load()} == set(FAMILIES)


def test_families_come_in_their_order_and_rules_in_theirs() -> None:
    catalogue = load()

    assert list(dict.fromkeys(rule.family for rule in catalogue.values())) == list(FAMILIES)
    for family in FAMILIES:
        ids = [rule.id for rule in catalogue.family(family)]
        # A rule that is not built yet leaves a gap.
        assert ids == sorted(set(ids))


@pytest.mark.parametrize(
    ("role", "families"),
    [
        (
            "gateway",
            {"DISC", "KEYS", "TLS", "REG", "AUTHZ", "CODE", "CLAIM", "PROXY", "REDEEM", "VAULT", "META"},
        ),
        ("service", {"TLS", "META", "CHAL", "SERVE", "BACK"}),
        ("agent", {"AGENT"}),
    ],
)
def test_a_role_is_judged_by_its_families(role: str, families: set[str]) -> None:
    shared = {"SECRET", "ROBUST", "INTEROP"}
    assert {rule.family for rule in load().for_role(role)} - shared == families


def test_the_catalogue_is_read_once() -> None:
    assert load() is load()


def test_alternatives_form_one_need() -> None:
    rule = load()["CODE-03"]

    assert rule.needs == (("control:advance_clock", "limits:code_lifetime_s"),)
    assert rule.unmet({"limits:code_lifetime_s"}) == ()
    assert rule.unmet({"merchant"}) == rule.needs


def test_needs_stand_beside_each_other() -> None:
    needs = (("merchant",), ("users:2", "two-projects"))

    assert unmet(needs, {"users:2"}) == (("merchant",),)
    assert unmet(needs, {"merchant", "two-projects"}) == ()


def test_every_known_need_is_needed_somewhere() -> None:
    used = {
        need for rule in load().values() for group in (*rule.needs, *rule.optional_needs) for need in group
    }
    # Some are needed by single checks, and by no rule.
    checks = (each for role in ROLES for found in index(role).values() for each in found)
    used |= {need for each in checks for need in each.needs}
    assert used == set(NEEDS)


def test_a_rule_is_found_in_any_case() -> None:
    assert load().named("redeem-05").id == "REDEEM-05"


def test_an_unknown_rule_names_the_nearest() -> None:
    with pytest.raises(UnknownRuleError, match="did you mean 'REDEEM-05'"):
        load().named("REDEM-05")


def test_every_rule_that_a_service_can_fail_says_what_its_operator_does_next() -> None:
    silent = [rule.id for rule in load().for_role("service") if rule.level != "silent" and not rule.next_step]
    assert silent == []


def test_prose_is_unwrapped_and_recipes_are_left_alone() -> None:
    rule = parse(
        [
            (
                "disc.toml",
                GOOD.replace('"In full."', "'''\nIn\nfull.\n'''").replace("-si ", r"-si \n  ").encode(),
            )
        ]
    )["DISC-01"]

    assert rule.holds == "In full."
    assert rule.by_hand == "curl -si \n  https://gateway.example"


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('level = "spec"', 'level = "specc"', "level: unknown value 'specc'; did you mean 'spec'?"),
        ('level = "spec"', "", "level: missing"),
        ('level = "spec"', 'level = "rfc"', "standard: missing: a rule of level rfc names its standard"),
        ('["gateway"]', '["gatway"]', "roles: unknown value 'gatway'; did you mean 'gateway'?"),
        ('["gateway"]', "[]", "roles: expected a list of at least one role"),
        ('["gateway"]', '["gateway", "gateway"]', "roles: a role is listed twice"),
        ("needs = []", 'needs = ["merchnt"]', "needs: unknown value 'merchnt'; did you mean 'merchant'?"),
        ("needs = []", 'needs = [["merchant", 7]]', "needs: unknown value 7"),
        ("needs = []", "needs = [[]]", "needs: an empty group of alternatives"),
        ("needs = []", 'needs = "merchant"', "needs: expected a list of needs"),
        ("needs = []", 'needs = []\noptional_needs = ["users"]', "optional_needs: unknown value 'users'"),
        ("needs = []", 'needs = []\nneed = ["merchant"]', "need: unknown key; did you mean 'needs'?"),
        ('why = "Because."', "", "why: missing"),
        ('"Because."', '" "', "why: expected a text that is not empty"),
        ('"Because."', "7", "why: expected a text that is not empty"),
        ('"Something holds"', '"Something\\nholds"', "title: expected one line"),
        ('"Endpoints > Gateway', '"Endponts > Gateway', "section: unknown heading 'Endponts'; did you mean"),
        (
            "endpoints > Discovery",
            "endpoints > Discovry",
            "section: unknown part 'Gateway endpoints > Discovry'",
        ),
    ],
)
def test_a_mistake_is_named_by_file_rule_and_key(old: str, new: str, message: str) -> None:
    assert old in GOOD
    assert catalogue_of(GOOD.replace(old, new)).startswith(f"disc.toml: DISC-01: {message}")


def test_a_rule_of_another_family_is_refused() -> None:
    assert (
        catalogue_of(GOOD.replace("[DISC-01]", "[KEYS-01]"))
        == "disc.toml: KEYS-01: expected an ID like DISC-01"
    )


@pytest.mark.parametrize("rule_id", ["DISC-1", "DISC-001", "DISC-XX", "disc-01", "DISC"])
def test_an_id_of_another_form_is_refused(rule_id: str) -> None:
    assert "expected an ID like DISC-01" in catalogue_of(GOOD.replace("[DISC-01]", f"[{rule_id}]"))


def test_an_id_that_stands_there_twice_is_refused() -> None:
    assert catalogue_of(GOOD + GOOD).startswith("disc.toml: ")


@pytest.mark.parametrize("text", ["", "# nothing but a comment"])
def test_a_file_without_rules_is_refused(text: str) -> None:
    assert catalogue_of(text) == "disc.toml: holds no rule"


def test_a_file_that_is_no_toml_is_refused() -> None:
    assert "line 2" in catalogue_of("\ntitle = = 1")


def test_a_key_outside_of_every_rule_is_refused() -> None:
    assert catalogue_of("title = 1" + GOOD) == "disc.toml: title: expected an ID like DISC-01"
    assert catalogue_of("DISC-02 = 1" + GOOD) == "disc.toml: DISC-02: expected a table"


def test_a_file_of_no_known_family_is_refused() -> None:
    assert catalogue_of(GOOD, "dics.toml") == "dics.toml: no family is called 'DICS'; did you mean 'DISC'?"


def test_the_digest_follows_the_bytes() -> None:
    once, again = parse([("disc.toml", GOOD.encode())]), parse([("disc.toml", GOOD.encode())])
    other = parse([("disc.toml", GOOD.replace("Because.", "Because!").encode())])

    assert once.digest() == again.digest() != other.digest()
    assert len(load().digest()) == 64


def test_selection_keeps_the_order_of_the_catalogue() -> None:
    chosen = select(load().values(), only=["vault-0?", "REDEEM-*"], skip=["*-05", "redeem-1*"])

    assert [rule.id for rule in chosen][:5] == [f"REDEEM-0{number}" for number in (1, 2, 3, 4, 6)]
    assert [rule.id for rule in chosen][-1] == "VAULT-09"
    assert "VAULT-05" not in {rule.id for rule in chosen}


def test_nothing_selected_by_name_selects_all() -> None:
    assert len(select(load().values())) == len(load())


@pytest.mark.parametrize(
    ("typed", "meant"), [("REDEEM-5", "REDEEM-05"), ("REDEM-5", "REDEEM-05"), ("redem", "REDEEM-01")]
)
def test_an_id_that_is_nearly_right_is_completed(typed: str, meant: str) -> None:
    with pytest.raises(UnknownRuleError, match=f"did you mean '{meant}'"):
        load().named(typed)


@pytest.mark.parametrize(
    ("typed", "meant"), [("DISK-*", "DISC-*"), ("authz-7", "AUTHZ-07"), ("AUTH-*", "AUTHZ-*")]
)
def test_a_pattern_with_a_wrong_family_names_the_right_one(typed: str, meant: str) -> None:
    with pytest.raises(UnknownRuleError, match=re.escape(f"did you mean '{meant}'")):
        select(load().values(), only=[typed])


@pytest.mark.parametrize("option", ["only", "skip"])
def test_a_pattern_that_matches_nothing_names_the_nearest(option: str) -> None:
    with pytest.raises(UnknownRuleError, match="no rule matches 'REDEEN-05'; did you mean 'REDEEM-05'"):
        select(load().values(), **{option: ["REDEEN-05"]})


def test_a_bare_family_name_hints_at_its_glob() -> None:
    with pytest.raises(UnknownRuleError, match=r"did you mean 'REDEEM-\*'"):
        select(load().values(), only=["redeem"])


def test_titles_fit_a_line_and_are_no_sentences() -> None:
    for rule in load().values():
        assert len(rule.title) <= 90, rule.id
        assert not rule.title.endswith("."), rule.id


def test_texts_are_sentences() -> None:
    for rule in load().values():
        for text in (rule.holds, rule.why, rule.how):
            assert text.endswith("."), f"{rule.id}: {text[-40:]}"


def test_titles_are_distinct() -> None:
    titles = Counter(rule.title for rule in load().values())
    assert [title for title, count in titles.items() if count > 1] == []


def test_recipes_use_variables_that_are_explained() -> None:
    used = {name for rule in load().values() for name in variables(rule.by_hand)}

    assert {name.removeprefix("OTHER_") for name in used} == set(VARIABLES)


def test_a_recipe_sets_some_variables_itself() -> None:
    recipe = 'FORGED=x\ncurl "$FORGED" "$OTHER_CODE" "${BASE_URL}/"'

    assert variables(recipe) == {
        "OTHER_CODE": f"a second one, beside $CODE: {VARIABLES['CODE']}",
        "BASE_URL": VARIABLES["BASE_URL"],
    }


def test_reading_the_rules_stays_light() -> None:
    script = "import sys, gateproof.conformance.suite.rules as r; r.load(); print(*sys.modules)"
    modules = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    ).stdout.split()

    heavy = {
        "httpx",
        "pytest",
        "cryptography",
        "jwt",
        "hypothesis",
        "hashlib",
        "difflib",
        "importlib.resources",
    }
    assert heavy.isdisjoint(modules)
