"""Faults of a merchant's token endpoint."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, Final

from gateproof.conformance.suite.fault import Fault, Hop, Layer

# Longer than most timeouts in gateways. Only the first call waits this long; later calls wait SILENCE_S.
FIRST_SILENCE_S, SILENCE_S = 12.0, 6.0
# The first silence ends well before the harness itself gives up: this share of its timeout.
_SHARE = 0.4
# How much longer than a sign-in may wait.
BEYOND_S = 10.0

_SIGN_IN = "the sign-in goes on"
_NO_REJECTION = "a refresh is answered without 410, and works again after the fault has ended"
_REJECTED_LATER = "a refresh is answered with 410 once the merchant refused the old token, and not before"
_HOLDS_IF_FAILED = f"{_SIGN_IN}; {_NO_REJECTION}"
_HOLDS_IF_ROTATED = f"{_SIGN_IN}; {_REJECTED_LATER}"
_HOLDS_IF_ODD = (
    f"{_SIGN_IN}; after a refresh redemption works again, or answers 410 until the user authorizes again"
)


@dataclass(frozen=True, kw_only=True, slots=True)
class MerchantFault:
    """A fault, and the outcome and parameters of the fake merchant's script that cause it."""

    fault: Fault
    outcome: str
    parameters: Mapping[str, Any] = field(default_factory=dict)
    rotates: bool = False
    # How long the first call waits, if longer than the others.
    first_s: float | None = None

    def tape(self, timeout_s: float) -> list[dict[str, Any]]:
        """The first answer in the form of a script, if it differs from later ones."""
        if self.first_s is None:
            return []
        usual_s = float(self.parameters["seconds"])
        return [self.scripted(seconds=max(usual_s, min(self.first_s, _SHARE * timeout_s)))]

    def scripted(self, **more: Any) -> dict[str, Any]:
        """The outcome in the form of a script."""
        return {"outcome": self.outcome, **self.parameters, **more}


@dataclass(frozen=True, kw_only=True, slots=True)
class ListenerFault:
    """A fault of a listener of the fake merchant, before HTTP begins."""

    fault: Fault
    face: str
    over_tls: bool = True


def _silence(name: str, outcome: str, does: str, holds: str, *, rotates: bool = False) -> MerchantFault:
    fault = _fault(name, outcome, does, holds, rotates=rotates, seconds=SILENCE_S)
    return replace(fault, first_s=FIRST_SILENCE_S)


def _fault(
    name: str, outcome: str, does: str, holds: str, *, rotates: bool = False, **parameters: Any
) -> MerchantFault:
    fault = Fault(name=name, layer=Layer.MERCHANT, hop=Hop.GATEWAY_TO_MERCHANT, does=does, holds=holds)
    return MerchantFault(fault=fault, outcome=outcome, parameters=parameters, rotates=rotates)


def _listener_fault(name: str, face: str, does: str, *, over_tls: bool = True) -> ListenerFault:
    layer = Layer.TLS if over_tls else Layer.BYTES
    holds = _HOLDS_IF_FAILED if over_tls else _NO_REJECTION
    fault = Fault(name=name, layer=layer, hop=Hop.GATEWAY_TO_MERCHANT, does=does, holds=holds)
    return ListenerFault(fault=fault, face=face, over_tls=over_tls)


def _by_name(*faults: MerchantFault) -> Mapping[str, MerchantFault]:
    return MappingProxyType({each.fault.name: each for each in faults})


# The merchant did not process the request, or did not report the result.
TROUBLE: Final = _by_name(
    _fault("server-error", "server_error", "answers 500", _HOLDS_IF_FAILED),
    _fault("bad-gateway", "server_error", "answers 502", _HOLDS_IF_FAILED, status=502),
    _fault("gateway-timeout", "server_error", "answers 504", _HOLDS_IF_FAILED, status=504),
    _fault(
        "unavailable", "server_error", "answers 503 with Retry-After in seconds", _HOLDS_IF_FAILED, status=503
    ),
    _fault(
        "unavailable-until-a-date",
        "server_error",
        "answers 503 with Retry-After as a date",
        _HOLDS_IF_FAILED,
        status=503,
        as_date=True,
    ),
    _fault("too-many-requests", "too_many", "answers 429", _HOLDS_IF_FAILED),
    _fault("reset", "reset", "resets the connection in place of an answer", _HOLDS_IF_FAILED),
    _fault(
        "echoing-error", "echo", "answers 500 and quotes what was sent and what was issued", _HOLDS_IF_FAILED
    ),
)

# The Retry-After of LONG_PAUSES is longer than a backend waits, but not longer than usual circuit breakers
# stay open. A gateway may send its merchant nothing for that long.
LONG_PAUSE_S = 60
_ANSWERED = "the sign-in goes on; a refresh is answered in time, and without 410"
# The merchant asks for a long pause; callers of the gateway must not have to wait for it.
LONG_PAUSES: Final = _by_name(
    _fault(
        "unavailable-for-a-minute",
        "server_error",
        "answers 503 with a Retry-After of a minute",
        _ANSWERED,
        status=503,
        retry_after_s=LONG_PAUSE_S,
    ),
    _fault(
        "unavailable-until-the-next-minute",
        "server_error",
        "answers 503 with a Retry-After that is the date in a minute",
        _ANSWERED,
        status=503,
        as_date=True,
        retry_after_s=LONG_PAUSE_S,
    ),
    _fault(
        "too-many-requests-for-a-minute",
        "too_many",
        "answers 429 with a Retry-After of a minute",
        _ANSWERED,
        retry_after_s=LONG_PAUSE_S,
    ),
)

# The answer is late or never comes.
SILENCE: Final = _by_name(
    _silence("hang", "hang", "sends nothing, and resets the connection", _NO_REJECTION),
    _silence("drip", "drip", "sends spaces one by one, and resets the connection", _NO_REJECTION),
    _silence(
        "accept-then-hang",
        "accept_then_hang",
        "carries the request out, sends nothing, and resets the connection",
        _REJECTED_LATER,
        rotates=True,
    ),
)
# The duration is set where the fault is used, because it depends on the target's timeout.
ENDLESS: Final = _by_name(
    _fault("endless-hang", "hang", "sends nothing for longer than a sign-in may take", _SIGN_IN),
    _fault("endless-drip", "drip", "sends spaces one by one for longer than a sign-in may take", _SIGN_IN),
)

# The refresh token was rotated, but the answer with the new one is lost.
ROTATED: Final = _by_name(
    _fault("rotate-then-500", "rotate_then_500", "rotates, and answers 500", _HOLDS_IF_ROTATED),
    _fault("rotate-then-reset", "rotate_then_reset", "rotates, and resets the connection", _HOLDS_IF_ROTATED),
)

# Answers that no token endpoint should give: neither a refusal nor a clear failure.
NONSENSE: Final = _by_name(
    _fault("html", "html", "answers 200 with a page for people", _HOLDS_IF_ODD),
    _fault("invalid-json", "invalid_json", "answers 200 with truncated JSON", _HOLDS_IF_ODD),
    _fault("wrong-shape", "wrong_shape", "answers 200 with members of wrong types", _HOLDS_IF_ODD),
    _fault("no-token", "no_token", "answers 200 with everything but the tokens", _HOLDS_IF_ODD),
    _fault(
        "refusal-as-a-success", "refusal_with_200", "answers 200 with the error of a refusal", _HOLDS_IF_ODD
    ),
    _fault("truncated", "truncated", "ends the body before its Content-Length", _HOLDS_IF_ODD),
    _fault("gzip-bomb", "gzip_bomb", "answers with 64 MB in 64 kB of gzip", _HOLDS_IF_ODD),
    _fault("ten-megabytes", "long_body", "answers with 10 MB of spaces", _HOLDS_IF_ODD),
    _fault(
        "two-content-lengths",
        "two_lengths",
        "answers with two different Content-Length headers",
        _HOLDS_IF_ODD,
    ),
    _fault(
        "header-injection", "header_injection", "answers 400 with headers inside the error", _HOLDS_IF_ODD
    ),
    _fault(
        "echoing-refusal",
        "echo",
        "answers 400 and quotes what was sent and what was issued",
        _HOLDS_IF_ODD,
        status=400,
    ),
)
# Answers with a valid token and something unusual.
ODD_TOKENS: Final = _by_name(
    _fault("wrong-content-type", "wrong_content_type", "answers correctly, but as text/plain", _HOLDS_IF_ODD),
    _fault("early-hints", "early_hints", "answers 103 and 102 before a good answer", _HOLDS_IF_ODD),
    _fault(
        "lifetime-missing", "odd_lifetime", "answers without expires_in", _HOLDS_IF_ODD, lifetime="missing"
    ),
    _fault("lifetime-zero", "odd_lifetime", "answers with expires_in 0", _HOLDS_IF_ODD, lifetime="zero"),
    _fault(
        "lifetime-as-text",
        "odd_lifetime",
        "answers with expires_in as a string",
        _HOLDS_IF_ODD,
        lifetime="text",
    ),
    _fault(
        "lifetime-negative",
        "odd_lifetime",
        "answers with a negative expires_in",
        _HOLDS_IF_ODD,
        lifetime="negative",
    ),
    _fault(
        "lifetime-beyond-all-calendars",
        "odd_lifetime",
        "answers with expires_in 10^18",
        _HOLDS_IF_ODD,
        lifetime="endless",
    ),
    _fault("no-refresh-token", "no_refresh_token", "answers without a refresh token", _HOLDS_IF_ODD),
)
ODD: Final[Mapping[str, MerchantFault]] = MappingProxyType({**NONSENSE, **ODD_TOKENS})
# Faults that do not delay a sign-in.
SIGN_INS: Final[Mapping[str, MerchantFault]] = MappingProxyType({**TROUBLE, **ROTATED, **ODD})
# Needs a `location` parameter.
REDIRECT: Final = _fault(
    "redirect-to-a-thief",
    "redirect",
    "answers 307 with the address of another server",
    "no credential is sent to the other server",
)

LISTENER_FAULTS: Final[Mapping[str, ListenerFault]] = MappingProxyType(
    {
        each.fault.name: each
        for each in (
            _listener_fault("no-connection", "shut", "does not listen any more", over_tls=False),
            _listener_fault("expired-certificate", "expired", "has an expired certificate"),
            _listener_fault(
                "certificate-not-yet-valid", "not-yet-valid", "has a certificate that is not yet valid"
            ),
            _listener_fault(
                "certificate-of-another-host", "wrong-host", "has a certificate for another host name"
            ),
            _listener_fault("self-signed-certificate", "self-signed", "has a self-signed certificate"),
            _listener_fault("unknown-authority", "unknown-ca", "has a certificate of an unknown authority"),
            _listener_fault("plain-text", "plain", "speaks HTTP where TLS is expected"),
        )
    }
)
MERCHANT_DELAYS = Fault(
    name="merchant that keeps one user waiting",
    layer=Layer.MERCHANT,
    hop=Hop.GATEWAY_TO_MERCHANT,
    does="the merchant delays one user's refresh, and that user's backend waits",
    holds="other users are served as usual",
)
