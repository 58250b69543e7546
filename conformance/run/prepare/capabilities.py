"""Which needs a target meets, and what would meet the others."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from gateproof.conformance.faults.intercept.finding import HOW_TO_GET_IT, mitmdump
from gateproof.conformance.suite.vocabulary import NEEDS
from gateproof.conformance.targets.control import Described
from gateproof.conformance.targets.model import GatewayTarget, Project

MAKING = ("create_project", "create_resource", "create_proxy_client")


@dataclass(frozen=True, kw_only=True, slots=True)
class Offer:
    """A target and the description of its control."""

    target: GatewayTarget
    described: Described | None

    def may(self, action: str) -> bool:
        """True if the control has the action, or may have it because it lists no actions.

        If such a control comes with Projects in the target file, these are used and none are created.
        """
        if self.described is None:
            return False
        if self.described.actions is None and self.usable and action in MAKING[:2]:
            return False
        return self.described.may_support(action)

    @property
    def controlled(self) -> bool:
        """True if Projects are created by control actions, not taken from the target file."""
        return all(self.may(action) for action in MAKING)

    @property
    def may_be_killed(self) -> bool:
        """True if a further instance can be started, killed and restarted, and keeps its data.

        The fake merchant knows only the addresses of the run's first instance. A further instance would need
        its own merchant if headers or a client certificate are needed, or if the file fixes the merchant.
        """
        target = self.target
        if target.launch is None or not self.controlled:
            return False
        if target.file is None:
            return True
        known_there = target.merchant is not None or target.reach.headers or target.reach.client_cert
        return target.launch.restart and target.may_run_twice and not known_there

    @property
    def usable(self) -> list[Project]:
        """Projects of the target file that checks can use."""
        return [
            project
            for project in self.target.projects
            if project.agent_policy == "approve"
            and project.resources
            and any(client.state == "active" for client in project.proxy_clients)
        ]


# For each need that is not a control action: whether it is met, and what would meet it.
_OTHERS: Mapping[str, tuple[Callable[[Offer], bool], str]] = {
    "merchant": (
        lambda offer: offer.controlled or offer.target.merchant is not None,
        "offer [control], or let the gateway use the harness's merchant, and say where under [merchant]",
    ),
    "users:2": (lambda offer: len(offer.target.users) > 1, "name a second user under [[users]]"),
    "two-projects": (
        lambda offer: offer.controlled or len(offer.usable) > 1,
        "offer [control], or list a second approving Project with a Resource and an active Proxy client",
    ),
    "resources:2": (
        lambda offer: offer.controlled or sum(len(project.resources) for project in offer.usable) > 1,
        "offer [control], or list a second Resource under [[projects.resources]]",
    ),
    "proxy-clients:2": (
        lambda offer: any(
            sum(client.state == "active" for client in project.proxy_clients) > 1 for project in offer.usable
        ),
        "list a second active Proxy client under [[projects.proxy_clients]]",
    ),
    "proxy-client:revoked": (
        lambda offer: any(
            client.state == "revoked" for project in offer.target.projects for client in project.proxy_clients
        ),
        'list a Proxy client with state = "revoked" under [[projects.proxy_clients]]',
    ),
    "project:hold": (
        lambda offer: any(project.agent_policy == "hold" for project in offer.target.projects),
        'list a Project with agent_policy = "hold"',
    ),
    "two-holding-projects": (
        lambda offer: (
            (offer.controlled and offer.may("set_agent_policy"))
            or sum(bool(each.resources) and each.agent_policy == "hold" for each in offer.target.projects) > 1
        ),
        'offer [control] with set_agent_policy, or list two Projects with agent_policy = "hold"',
    ),
    "restart": (
        lambda offer: offer.may_be_killed,
        (
            "set restart = true under [launch], write the addresses with {port}, offer [control], and leave "
            "out [merchant], headers and client_cert_file"
        ),
    ),
    # Needs that depend on the run's options only: see RunOptions.
    "examples": (lambda _: True, "give --examples a number above 0"),
    "faults": (lambda _: True, "run without --no-faults"),
    "intercepting-proxy": (
        lambda _: mitmdump() is not None,
        HOW_TO_GET_IT,
    ),
    "https": (lambda offer: offer.target.base_url.startswith("https:"), "address the gateway by https"),
    "sign-in:decline": (
        lambda offer: offer.target.sign_in.kind != "manual",
        "choose a sign-in that can decline",
    ),
    "sign-in:browser": (
        lambda offer: offer.target.sign_in.kind in {"forms", "chromium"},
        'sign in with kind = "forms" or "chromium"',
    ),
    "limits:code_lifetime_s": (
        lambda offer: offer.target.limits.code_lifetime_s is not None,
        "state code_lifetime_s under [limits]",
    ),
}


def makes_projects(offered: frozenset[str]) -> bool:
    """True if Projects are created with these capabilities, not taken from the target file."""
    return offered.issuperset(f"control:{action}" for action in MAKING)


def remedy(need: str) -> str:
    """What would meet a need of a gateway."""
    return (
        _OTHERS[need][1] if need in _OTHERS else f"offer the control action {need.removeprefix('control:')}"
    )


def capabilities(offer: Offer) -> tuple[frozenset[str], dict[str, str]]:
    """The needs that the target meets, and for each other need what would meet it."""
    met: set[str] = set()
    missing: dict[str, str] = {}
    for need in NEEDS:
        if need.startswith("control:"):
            holds = offer.may(need.removeprefix("control:"))
        elif need in _OTHERS:
            holds = _OTHERS[need][0](offer)
        else:
            continue  # a need of another role
        if holds:
            met.add(need)
        else:
            missing[need] = f"needs {NEEDS[need]}: {remedy(need)}"
    return frozenset(met), missing
