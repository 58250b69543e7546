"""The workers of a proof start with a safe path, and the process that made them keeps its environment."""

from __future__ import annotations

import os
from contextlib import closing

import pytest

from gateproof.conformance.run.proof.workers import in_workers

NAME = "PYTHONSAFEPATH"


@pytest.mark.parametrize("before", [None, "", "yes"])
def test_a_proof_leaves_the_environment_as_it_was(
    monkeypatch: pytest.MonkeyPatch, before: str | None
) -> None:
    if before is None:
        monkeypatch.delenv(NAME, raising=False)
    else:
        monkeypatch.setenv(NAME, before)
    calls = [(NAME,)]

    with closing(in_workers(os.getenv, calls, workers=1)) as working:
        assert [done.result() for _, done in working] == ["1"]
    assert os.environ.get(NAME) == before
