"""Signs one user in, to find out whether the pages work with the configured kind of sign-in."""

from __future__ import annotations

from gateproof.conformance.run.context.gateway import GatewayContext
from gateproof.conformance.run.gateway.bench import GatewayBench
from gateproof.conformance.signin.page_loop import SCRIPTED
from gateproof.conformance.signin.sign_in_result import SignInFailed
from gateproof.conformance.suite.claims import Broken, LeftOut, Unavailable, Unmet, tallying
from gateproof.conformance.targets.control import ControlFailed, Unsupported
from gateproof.conformance.wire.client import RateLimited, TargetSilent

_SAYS_NOTHING = (Broken, LeftOut, Unavailable, Unmet, ControlFailed, Unsupported, RateLimited, TargetSilent)


def probe_sign_in(context: GatewayContext) -> list[str]:
    """Problems of the sign-in pages; all other results of the sign-in are left to a run.

    The sign-in is for an agent that is registered for it.
    """
    kind = context.target.sign_in.kind
    if kind not in {"forms", "chromium"}:
        return []
    bench = GatewayBench(context)
    try:
        bench.begin("doctor")
        with tallying():
            visit = bench.world.gateway.visit(bench.world.attempt())
    except SignInFailed as reason:
        return [f"sign-in in Chromium: {reason}"]
    except _SAYS_NOTHING:
        return []
    finally:
        bench.close()
    if visit.sent_to is None and (kind == "chromium" or SCRIPTED in visit.page):
        return [f"sign-in of {context.users[0].name}: {visit.page.partition(', see ')[0]}"]
    return []
