"""The options that change the harness's own parties around a target."""

from __future__ import annotations

import argparse

from gateproof.conformance.targets.model import GatewayTarget, OwnParties, ServiceTarget, Target


def own_parties(arguments: argparse.Namespace, target: Target | None) -> OwnParties:
    """The options for the harness's own parties; raises ValueError for one that does not fit the target.

    Without a target, the embedded reference of the selected role is tested.
    """
    role = target.role if target is not None else arguments.role or "gateway"
    if arguments.one_origin and role == "gateway":
        raise ValueError("--one-origin is for a service or an agent: a gateway has its own origins")
    if arguments.deviate and role != "agent":
        raise ValueError("--deviate is for an agent: the gateway that it meets is ours")
    if arguments.names and (place := _placed_by(target)):
        raise ValueError(f"--names is for parties that gateproof places itself; here {place} does")
    return OwnParties(
        one_origin=arguments.one_origin, names=arguments.names, deviations=tuple(arguments.deviate)
    )


def _placed_by(target: Target | None) -> str:
    """The target-file setting that fixes addresses of the harness's parties; empty if there is none."""
    if isinstance(target, GatewayTarget):
        return "[merchant]" if target.merchant is not None else ""
    return "[world] listen" if isinstance(target, ServiceTarget) and target.world.listen is not None else ""
