"""A verifier that nobody was shown at a token endpoint is known by its challenge."""

from __future__ import annotations

import secrets

import pytest

from gateproof.conformance.kit.agent.agent import s256
from gateproof.conformance.kit.agent.pkce_in_output import verifiers_in

VERIFIER = secrets.token_urlsafe(32)
LONG = "~." + secrets.token_urlsafe(90) + "~"
CHALLENGES = {s256(VERIFIER), s256(LONG)}


@pytest.mark.parametrize(
    "text", ["{}", "waiting with {}.", '{{"code_verifier": "{}"}}', "a=b&code_verifier={}&c"]
)
@pytest.mark.parametrize("verifier", [VERIFIER, LONG], ids=["usual", "long"])
def test_verifier_is_found_by_its_challenge(text: str, verifier: str) -> None:
    assert verifiers_in(text.format(verifier), CHALLENGES) == [verifier]


def test_nothing_else_is_a_verifier() -> None:
    others = (s256(VERIFIER), VERIFIER[:-1], secrets.token_urlsafe(32), VERIFIER.swapcase())
    assert verifiers_in("\n".join(others), CHALLENGES) == []
    assert verifiers_in(VERIFIER, set()) == []
