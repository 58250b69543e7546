"""New Resource keys can be made as costly as they are in many gateways."""

from __future__ import annotations

import time

from gateproof.reference.gateway.key_costs import with_costly_keys
from gateproof.reference.gateway.policies import Policies
from gateproof.reference.ids import RandomIds


def test_new_key_costs_the_processor_time_that_was_asked_for() -> None:
    policies = with_costly_keys(Policies(), 0.2)
    begun = time.thread_time()
    policies.new_resource_key(RandomIds())
    assert time.thread_time() - begun >= 0.2
