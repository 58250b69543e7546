"""What can be tested at a target, what would make more testable, and what in its file looks wrong."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from gateproof.conformance.checks import index
from gateproof.conformance.run.context.gateway import GatewayContext
from gateproof.conformance.run.context.service import ServiceContext
from gateproof.conformance.run.doctor.testability import Gain, Testability, gain, prospects
from gateproof.conformance.run.prepare.capabilities import Offer, capabilities, remedy
from gateproof.conformance.run.prepare.service import REMEDIES
from gateproof.conformance.suite import rules
from gateproof.conformance.suite.vocabulary import NEEDS
from gateproof.conformance.targets.control import Described

# A control that offers everything that anything needs.
_ABLE = Described(
    name="",
    version="",
    actions=frozenset(need.removeprefix("control:") for need in NEEDS if need.startswith("control:")),
    clock_offset_s=0.0,
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Advice:
    """Something that the target could offer, and what it would bring."""

    text: str
    gain: Gain


@dataclass(frozen=True, kw_only=True, slots=True)
class Diagnosis:
    """Everything that there is to say."""

    name: str
    role: str
    prospects: tuple[Testability, ...]
    missing: Mapping[str, str]
    advice: tuple[Advice, ...] = ()
    doubts: tuple[str, ...] = ()
    # What a service that is configured by hand has to be told, by the names that a launched one is told.
    settings: Mapping[str, str] = field(default_factory=dict)

    @property
    def unchecked(self) -> list[str]:
        """Rules for which gateproof has no check, whatever the target offers."""
        return [each.rule.id for each in self.prospects if not each.checked]

    def as_json(self) -> dict[str, Any]:
        """For programs: each rule with its reasons, in the words of a report."""
        return {
            "target": self.name,
            "role": self.role,
            "doubts": list(self.doubts),
            "settings": dict(self.settings),
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
        """A group of alternatives; the ones that targets of another role have are none of its business."""
        return ", or ".join(self.missing[need] for need in group if need in self.missing)


def diagnose(name: str, context: GatewayContext, doubts: Sequence[str]) -> Diagnosis:
    """What is known of a gateway that has answered."""
    return Diagnosis(
        name=name,
        role="gateway",
        prospects=tuple(_prospects(context.capabilities)),
        missing=context.missing,
        advice=tuple(_advice(context)),
        doubts=tuple(doubts),
    )


def diagnose_service(
    context: ServiceContext, settings: Mapping[str, str], doubts: Sequence[str]
) -> Diagnosis:
    """What is known of a service that has answered."""
    return Diagnosis(
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
    """All control actions that are missing together, then each thing that the target file could list."""
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
