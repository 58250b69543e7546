"""A second Resource or Project at which the same users can be expected to sign in."""

from __future__ import annotations

from collections.abc import Sequence

from gateproof.conformance.kit.gateway.project_pool import ControlledProjects
from gateproof.conformance.kit.gateway.world import World
from gateproof.conformance.suite.claims import LeftOut
from gateproof.conformance.suite.parties import Resource


def of_one_merchant(world: World, resources: Sequence[Resource]) -> Sequence[Resource]:
    """The same, where the users of this run are known to have an account at the merchant of each.

    A target file that lists its Resources may list merchants of many kinds.
    """
    known = all(resource.merchant_client_id is not None for resource in resources)
    if not isinstance(world.projects.pool, ControlledProjects) and (world.merchant is None or not known):
        raise LeftOut("the target file does not say whether the same users can sign in at both Resources")
    return resources
