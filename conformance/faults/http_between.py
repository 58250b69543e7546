"""Faults of an exchange between a gateway and its merchant, caused by a proxy that reads it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final

from gateproof.conformance.faults.intercept.rules import Act, At, Rule
from gateproof.conformance.suite.fault import Fault, Hop, Layer

# The grant type in a form, escaped or not. `client_assertion_type` also ends with jwt-bearer.
PROVISIONING = r"grant-type(%3A|%3a|:)(jwt-bearer|token-exchange)"
REFRESH = r"grant_type=refresh_token"
_LATE_S = 1.0
_SIGN_IN = "the sign-in goes on"
_NOT_REJECTED = f"{_SIGN_IN}; no 410 for a refresh, and redemption works again after the fault has ended"
_PAGE = b"<!doctype html><title>502 Bad Gateway</title><h1>Bad Gateway</h1>"


@dataclass(frozen=True, kw_only=True, slots=True)
class HttpFault:
    """A fault, and the proxy rule that causes it."""

    fault: Fault
    rule: Rule


def _fault(name: str, does: str, act: Act, *, holds: str = _NOT_REJECTED, **given: Any) -> HttpFault:
    fault = Fault(
        name=name,
        layer=Layer.HTTP,
        hop=Hop.GATEWAY_TO_MERCHANT,
        does=f"is behind a proxy that {does}",
        holds=holds,
    )
    return HttpFault(fault=fault, rule=Rule(name=name, act=act, **given))


# No answer of the merchant reaches the gateway.
LOST: Final[Mapping[str, HttpFault]] = MappingProxyType(
    {
        "request-dropped": _fault("request dropped", "drops the request", Act.KILL, at=At.REQUEST),
        "answer-dropped": _fault("answer dropped", "drops the answer", Act.KILL, at=At.RESPONSE),
        "bad-gateway": _fault(
            "bad gateway",
            "answers 502 with a page of its own",
            Act.ANSWER,
            status=502,
            headers={"Content-Type": "text/html"},
            content=_PAGE,
        ),
        "late-answer": _fault("late answer", "holds the answer back", Act.DELAY, seconds=_LATE_S),
    }
)
# The gateway gets another answer. During a refresh, how it reacts is its own choice.
ALTERED: Final[Mapping[str, HttpFault]] = MappingProxyType(
    {
        "empty-answer": _fault(
            "empty answer", "removes the body of the answer", Act.SET_BODY, holds=_SIGN_IN
        ),
        "garbled-answer": _fault(
            "garbled answer",
            "replaces the body of the answer",
            Act.SET_BODY,
            holds=_SIGN_IN,
            content=b'{"access_token": ["\xff',
        ),
    }
)
