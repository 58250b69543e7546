"""Finds out which signature algorithm a service accepts, if the target file does not name it."""

from __future__ import annotations

import time
from collections.abc import Callable
from threading import Lock

from gateproof.conformance.suite.pauses import Cause, wait_for
from gateproof.conformance.suite.time_limits import KEY_FOUND_S
from gateproof.conformance.wire.exchange import Exchange
from gateproof.fakes.gateway.gateway import ScriptedGateway
from gateproof.fakes.gateway.script import Endpoint

# RS256 comes first: many JWT libraries accept nothing else by default.
USUAL = "RS256"
_OTHERS = ("ES256", "PS256", "EdDSA")
_PAUSE_S = 2.0
# What a service calls only for a token that it has accepted.
_FOR_A_TOKEN = (Endpoint.TOKEN, Endpoint.REDEMPTION, Endpoint.MERCHANT_API)


class Algorithms:
    """Settles the signature algorithm of good tokens for the rest of the run.

    If the service refuses the first good token, keys of the other algorithms are added to the core key set,
    and the token is sent again, signed with each of them and as it was. A service may need a while to fetch
    the key set again. If it calls gateway or merchant for a token, it has accepted it, whatever it answers.
    """

    def __init__(self, gateway: ScriptedGateway, *, told: bool) -> None:
        self._gateway = gateway
        self._open = not told
        self._lock = Lock()

    def settled(self, token: str, send: Callable[[str], Exchange]) -> Exchange:
        """Sends the token; returns the response to it, or to the first re-signed copy that was accepted."""
        mark = self._gateway.journal.mark()
        answer = send(token)
        with self._lock:
            if not self._open or not self._gateway.is_good(token):
                return answer
            refused = self._is_refusal(answer, mark)
            if refused is None:
                return answer
            self._open = False
            return self._tried(token, answer, send) if refused else answer

    def _tried(self, token: str, answer: Exchange, send: Callable[[str], Exchange]) -> Exchange:
        gateway = self._gateway
        first = gateway.core_key
        others = [gateway.add_core_key(algorithm) for algorithm in _OTHERS]
        copies = [(key, gateway.resigned_with(key, token)) for key in others]
        deadline = time.monotonic() + KEY_FOUND_S
        while time.monotonic() < deadline:
            for key, copy in [*copies, (first, token)]:
                mark = gateway.journal.mark()
                taken = send(copy)
                if taken.status != 401 or self._called_for_it(mark):
                    gateway.keep_core_keys(key)
                    return taken
            wait_for(Cause.KEYS, _PAUSE_S)
        gateway.keep_core_keys(first)
        return answer

    def _is_refusal(self, answer: Exchange, mark: int) -> bool | None:
        """True for a refused token, False for an accepted one; None if the answer does not tell."""
        if answer.status is not None and answer.status < 300:
            return False
        return True if answer.status == 401 and not self._called_for_it(mark) else None

    def _called_for_it(self, mark: int) -> bool:
        calls = self._gateway.journal.since(mark)
        return any(call.endpoint in _FOR_A_TOKEN for call in calls)
