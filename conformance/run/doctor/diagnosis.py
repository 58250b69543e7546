"""Which rules can be tested at a target, what is needed for more, and what in the target file looks wrong."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from gateproof.conformance.checks import index
from gateproof.conformance.run.context.gateway import GatewayContext
from gateproof.conformance.run.context.service import ServiceContext
from gateproof.conformance.run.doctor.testability import Gain, Testability, gain, only, prospects
from gateproof.conformance.run.prepare.capabilities import Offer, capabilities, makes_projects, remedy
from gateproof.conformance.run.prepare.service import REMEDIES
from gateproof.conformance.run.service.expected_time import expected_time
from gateproof.conformance.run.usual_workers import workers_of_a_run
from gateproof.conformance.suite import rules
from gateproof.conformance.suite.vocabulary import NEEDS
from gateproof.conformance.targets.control import Described

# What a target needs for every rule except these, whose checks only register agents.
_PROJECT = "project"
_OF_REGISTRATIONS = ("REG-01", "REG-02", "REG-03", "REG-04", "REG-05", "REG-12", "REG-13", "INTEROP-02")
# A control with every action.
_ABLE = Described(
    name="",
    version="",
    actions=frozenset(need.removeprefix("control:") for need in NEEDS if need.startswith("control:")),
    clock_offset_s=0.0,
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Advice:
    """Something that the target could offer, and the rules that it would make testable."""

    text: str
    gain: Gain


@dataclass(frozen=True, kw_only=True, slots=True)
class Diagnosis:
    """The result for one target."""

    name: str
    role: str
    prospects: tuple[Testability, ...]
    missing: Mapping[str, str]
    advice: tuple[Advice, ...] = ()
    doubts: tuple[str, ...] = ()
    # The settings for a service that is configured by hand, by environment variable.
    settings: Mapping[str, str] = field(default_factory=dict)
    # Host names of the harness's own parties that this system does not resolve to this machine.
    unresolved: tuple[str, ...] = ()
    # True for a launched target that cannot be started more than once.
    shared_by_workers: bool = False
    # How long a run will take, if that is longer than a minute.
    expected: str = ""

    @property
    def unchecked(self) -> list[str]:
        """Rules for which gateproof has no check."""
        return [each.rule.id for each in self.prospects if not each.checked]

    def as_json(self) -> dict[str, Any]:
        """The output of --json: each rule with its reasons, in the words of a report."""
        return {
            "target": self.name,
            "role": self.role,
            "doubts": list(self.doubts),
            "settings": dict(self.settings),
            "unresolved": list(self.unresolved),
            "expected": self.expected,
            "rules": [self._rule(each) for each in self.prospects],
        }

    def _rule(self, each: Testability) -> dict[str, Any]:
        reason = "; ".join(map(self._reason, each.lacking)) if each.checked else "no check exists yet"
        return {
            "id": each.rule.id,
            "level": each.rule.level,
            "testable": each.testable,
            "reason": reason,
            "parts": sorted(map(self._reason, each.parts)),
        }

    def _reason(self, group: Sequence[str]) -> str:
        """The reason for a group of alternative needs, without the needs of other roles."""
        return ", or ".join(self.missing[need] for need in group if need in self.missing)


def diagnose(name: str, context: GatewayContext, doubts: Sequence[str]) -> Diagnosis:
    """The diagnosis of a gateway that has answered."""
    if not makes_projects(context.capabilities) and not Offer(target=context.target, described=None).usable:
        return _without_a_project(name, context, doubts)
    return Diagnosis(
        name=name,
        role="gateway",
        prospects=tuple(_prospects(context.capabilities)),
        missing=context.missing,
        advice=tuple(_advice(context)),
        doubts=tuple(doubts),
    )


def _without_a_project(name: str, context: GatewayContext, doubts: Sequence[str]) -> Diagnosis:
    """Nearly every check needs a Project with a Resource and a Proxy client."""
    listed = _prospects(context.capabilities)
    now = only(listed, _OF_REGISTRATIONS, _PROJECT)
    with_control, _ = capabilities(Offer(target=context.target, described=_ABLE))
    listing = "list one under [[projects]], [[projects.resources]] and [[projects.proxy_clients]]"
    found = [
        Advice(
            text="offer [control] with the actions of docs/control.md",
            gain=gain(now, _prospects(with_control)),
        ),
        Advice(text=f"or {listing}", gain=gain(now, listed)),
    ]
    missing = "the target file has no approving Project with a Resource and a Proxy client"
    return Diagnosis(
        name=name,
        role="gateway",
        prospects=tuple(now),
        missing={**context.missing, _PROJECT: missing},
        advice=tuple(found),
        doubts=(missing, *doubts),
    )


def diagnose_service(
    context: ServiceContext, settings: Mapping[str, str], doubts: Sequence[str], seldom: bool | None = None
) -> Diagnosis:
    """The diagnosis of a service that has answered; `seldom` says how it looks for new keys."""
    checks = [check for found in index("service").values() for check in found]
    runs_twice = context.target.may_run_twice
    cases = sum(len(check.ids()) for check in checks)
    workers = workers_of_a_run(cases, "service", own_targets=True) if runs_twice else 1
    return Diagnosis(
        expected=expected_time(checks, workers=workers).in_words(seldom=seldom),
        name=context.target.name,
        role="service",
        prospects=tuple(_of_a_service(context.capabilities)),
        missing=context.missing,
        advice=tuple(_advice_on_a_service(context)),
        doubts=tuple(doubts),
        settings=settings,
    )


def _of_a_service(offered: frozenset[str]) -> list[Testability]:
    return prospects(rules.load().for_role("service"), index("service"), offered)


def _advice_on_a_service(context: ServiceContext) -> list[Advice]:
    now = _of_a_service(context.capabilities)
    found = [
        Advice(text=text, gain=gain(now, _of_a_service(context.capabilities | {need})))
        for need, text in REMEDIES.items()
        if need in context.missing
    ]
    return [advice for advice in found if advice.gain.rules or advice.gain.completed]


def _prospects(offered: frozenset[str]) -> list[Testability]:
    return prospects(rules.load().for_role("gateway"), index("gateway"), offered)


def _advice(context: GatewayContext) -> list[Advice]:
    """First all missing control actions together, then each thing that the target file could list."""
    now, target = _prospects(context.capabilities), context.target
    actions = [need.removeprefix("control:") for need in context.missing if need.startswith("control:")]
    found = []
    if actions:
        with_all, _ = capabilities(Offer(target=target, described=_ABLE))
        text = f"offer these control actions under [control], as docs/control.md says: {', '.join(actions)}"
        found.append(Advice(text=text, gain=gain(now, _prospects(with_all))))
    for need in context.missing:
        if not need.startswith("control:"):
            brought = gain(now, _prospects(context.capabilities | {need}))
            text = remedy(need).removeprefix("offer [control], or ")
            found.append(Advice(text=f"or {text}" if actions else text, gain=brought))
    return [advice for advice in found if advice.gain.rules or advice.gain.completed]
