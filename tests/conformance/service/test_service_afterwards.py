"""What a check does to the world is over when the check is: the next one blames nobody for it."""

from __future__ import annotations

from pathlib import Path

import pytest
from warm import WARM

from gateproof.conformance.checks.service import back_cache
from gateproof.conformance.kit.service import world
from gateproof.conformance.run.context.embedded import Embedded
from gateproof.conformance.run.drive.options import RunOptions
from gateproof.conformance.run.drive.session import carry_out
from gateproof.conformance.suite import rules


def verdicts(name: str, folder: Path, *only: str) -> dict[str, str]:
    """What comes of these rules, in the order of a whole run, with a wrong service."""
    program = (*WARM, "gateproof.reference.defects", "service", name)
    selected = rules.select(rules.load().for_role("service"), only)
    options = RunOptions(role="service", seed=5, only=only)
    result = carry_out(Embedded(name=name, program=program), selected, options, lambda _: None, folder)
    return {rule.id: rule.verdict.value for rule in result.rules}


@pytest.mark.parametrize("only", [("BACK-02", "BACK-03", "BACK-04"), ("BACK-02", "BACK-08", "BACK-04")])
def test_proxy_token_of_a_short_life_is_a_matter_of_its_own_rule(
    only: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (world, back_cache):
        monkeypatch.setattr(module, "FIRST_PROXY_TOKENS_S", 1)

    found = verdicts("proxy-token-for-ever", tmp_path, *only)

    assert found.pop("BACK-03", "failed") == "failed"
    assert set(found.values()) == {"passed"}, found
