"""Whether the target still answers at the end of a run: what fell silent on the way was not tested."""

from __future__ import annotations

import time

from gateproof.conformance.run.context.base import Context
from gateproof.conformance.run.prepare.gateway import some_discovery, target_place
from gateproof.conformance.run.prepare.service import service_place
from gateproof.conformance.targets.model import GatewayTarget, ServiceTarget
from gateproof.conformance.wire import agent as agent_wire
from gateproof.conformance.wire.client import TargetSilent, Wire
from gateproof.conformance.wire.route import Place

# It is asked again after these pauses: one answer that got lost is no silence.
PAUSES_S = (0.0, 2.0, 5.0)


def silence(context: Context) -> str:
    """What is said of a target that answers no more; nothing of one that does, whatever it answers."""
    where = _where(context)
    if where is None:
        return ""
    place, url, timeout_s = where
    wire = Wire((place,), timeout_s=timeout_s, record=lambda _: None)
    why = ""
    try:
        for pause_s in PAUSES_S:
            time.sleep(pause_s)
            last = wire.send_once("last contact", agent_wire.get(url))
            if last.answer is not None:
                return ""
            why = last.failure or "no answer"
    except TargetSilent as silent:
        why = str(silent)
    finally:
        wire.close()
    return f"the target had stopped answering by the end of the run: {why}"


def _where(context: Context) -> tuple[Place, str, float] | None:
    target = context.target
    if isinstance(target, GatewayTarget):
        return target_place(target), some_discovery(target), target.limits.request_timeout_s
    if isinstance(target, ServiceTarget):
        url = target.metadata_url or target.service_url
        return service_place(target), url, target.limits.request_timeout_s
    return None
