"""Network faults between a gateway and its merchant, as data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from gateproof.conformance.faults import toxics
from gateproof.conformance.faults.byte_proxy import ByteProxy
from gateproof.conformance.faults.toxics import Toxic, Way
from gateproof.conformance.suite.fault import Fault, Hop, Layer

_HOLDS = (
    "the sign-in goes on; no 410 for a refresh, an answer in time, and redemption works again after the "
    "fault has ended"
)
# Noticeable, and shorter than a gateway's timeout.
_STALL_S = 1.2


@dataclass(frozen=True, kw_only=True, slots=True)
class NetworkFault:
    """A fault and its toxics: one entry per connection; a single entry applies to all connections."""

    fault: Fault
    tape: Sequence[Sequence[Toxic]]

    def arm(self, proxy: ByteProxy) -> int:
        """Arms the proxy for the next connections; returns the number of connections before."""
        before = proxy.connections
        if len(self.tape) == 1:
            proxy.arm(*self.tape[0])
        else:
            proxy.arm_tape(self.tape)
        return before

    def struck(self, proxy: ByteProxy) -> int:
        return sum(proxy.fired(toxic) for toxic in {toxic for entry in self.tape for toxic in entry})


def _fault(name: str, connection: str, *tape: Sequence[Toxic]) -> NetworkFault:
    fault = Fault(
        name=name,
        layer=Layer.BYTES,
        hop=Hop.GATEWAY_TO_MERCHANT,
        does=f"is reached over a connection that {connection}",
        holds=_HOLDS,
    )
    return NetworkFault(fault=fault, tape=tape)


# No answer arrives, or not all of it.
LOST: Final[Mapping[str, NetworkFault]] = MappingProxyType(
    {
        "connection-refused": _fault("connection refused", "is reset at once", [toxics.down()]),
        "connection-closed": _fault(
            "connection closed", "is closed before any data passes", [toxics.closed()]
        ),
        "answer-reset": _fault(
            "answer lost by a reset",
            "delivers the request and is reset in place of the answer",
            [toxics.reset(asked=True)],
        ),
        "answer-cut": _fault(
            "answer cut off",
            "delivers the request and is closed after 40 octets of the answer",
            [toxics.truncated(40, asked=True)],
        ),
        "answer-half-closed": _fault(
            "half-closed line",
            "delivers the request and is then closed on the merchant's side",
            [toxics.half_closed(asked=True)],
        ),
        "line-dead": _fault(
            "dead line",
            "delivers the request, carries nothing for a while, and is reset",
            [toxics.timeout(_STALL_S, asked=True)],
        ),
        "data-limit": _fault("data limit", "is closed after a kilobyte", [toxics.limited(1000)]),
    }
)
# Everything arrives, but late or at the second attempt.
SLOW: Final[Mapping[str, NetworkFault]] = MappingProxyType(
    {
        "latency": _fault(
            "latency with jitter",
            "delivers everything late, with a varying delay",
            [toxics.latency(0.1, jitter_s=0.1), toxics.latency(0.1, jitter_s=0.1, way=Way.THERE)],
        ),
        "bandwidth": _fault("narrow line", "carries 8 kB a second", [toxics.bandwidth(8_000)]),
        "sliced": _fault(
            "sliced answers", "delivers answers in pieces of 7 octets", [toxics.sliced(7, pause_s=0.0005)]
        ),
        "on-and-off": _fault(
            "line that comes and goes",
            "is reset every second time",
            *([toxics.reset(asked=True)], []) * 4,
        ),
    }
)
