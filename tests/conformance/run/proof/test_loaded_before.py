"""What workers are forked with: they read the catalogue and the shipped proofs no second time."""

from gateproof.conformance.run.drive import run_header
from gateproof.conformance.run.proof import loaded_before
from gateproof.conformance.suite import rules
from gateproof.conformance.suite.proven import proven
from gateproof.conformance.suite.vocabulary import ROLES


def test_workers_find_everything_read() -> None:
    assert loaded_before.phases
    read = {rules.load: 1, run_header.harness: 1, run_header.dependencies: 1, proven: len(ROLES)}
    assert {each: each.cache_info().currsize for each in read} == read
