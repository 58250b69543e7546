"""Checks at the end of a run that the target still answers; if not, the run has no verdict."""

from __future__ import annotations

import time
from urllib.parse import urlsplit

from gateproof.conformance.run.context.base import Context
from gateproof.conformance.run.prepare.gateway import some_discovery, target_place
from gateproof.conformance.run.prepare.service import service_place
from gateproof.conformance.targets.model import GatewayTarget, ServiceTarget
from gateproof.conformance.targets.readiness import accepts_connections
from gateproof.conformance.wire import agent as agent_wire
from gateproof.conformance.wire.client import TargetSilent, Wire
from gateproof.conformance.wire.route import Place

# Pauses before each try, because one lost answer does not mean that the target is down.
PAUSES_S = (0.0, 2.0, 5.0)


def silence(context: Context) -> str:
    """The reason if the target does not answer any more; empty if it gives any answer."""
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


def is_listening(context: Context) -> bool:
    """True if something accepts connections at the target's address."""
    where = _where(context)
    parts = urlsplit(where[1] if where is not None else "")
    port = parts.port or (443 if parts.scheme == "https" else 80)
    return where is None or accepts_connections(parts.hostname or "", port)


def _where(context: Context) -> tuple[Place, str, float] | None:
    target = context.target
    if isinstance(target, GatewayTarget):
        return target_place(target), some_discovery(target), target.limits.request_timeout_s
    if isinstance(target, ServiceTarget):
        url = target.metadata_url or target.service_url
        return service_place(target), url, target.limits.request_timeout_s
    return None
