"""The workers of a proof start with a safe path, and the process that made them keeps its environment."""

from __future__ import annotations

import os

import pytest

from gateproof.conformance.run.proof import proof
from gateproof.conformance.run.proof.scope import Effort

NAME = "PYTHONSAFEPATH"


@pytest.mark.parametrize("before", [None, "", "yes"])
def test_a_proof_leaves_the_environment_as_it_was(
    monkeypatch: pytest.MonkeyPatch, before: str | None
) -> None:
    if before is None:
        monkeypatch.delenv(NAME, raising=False)
    else:
        monkeypatch.setenv(NAME, before)
    seen: list[str | None] = []

    def looking(*_: object) -> list[object]:
        seen.append(os.environ.get(NAME))
        return []

    monkeypatch.setattr(proof, "longest_first", looking)
    assert proof.prove("gateway", [], effort=Effort.QUICK, workers=1, seed=1, ended=print) == []
    assert seen == ["1"]
    assert os.environ.get(NAME) == before
