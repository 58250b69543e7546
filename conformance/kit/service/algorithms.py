"""Finds out which signature algorithm a service accepts, if the target file does not name it."""

from __future__ import annotations

import time
from collections.abc import Callable
from threading import Lock

from gateproof.conformance.suite.pauses import Cause, wait_for
from gateproof.conformance.suite.time_limits import KEY_FOUND_S
from gateproof.conformance.wire.exchange import Exchange
from gateproof.fakes.gateway.gateway import ScriptedGateway

# RS256 comes first: many JWT libraries accept nothing else by default.
USUAL = "RS256"
_OTHERS = ("ES256", "PS256", "EdDSA")
_PAUSE_S = 2.0


class Algorithms:
    """Settles the signature algorithm of good tokens for the rest of the run.

    If the service refuses the first good token, keys of the other algorithms are added to the core key set,
    and the token is sent once signed with each of them. A service may need a while to fetch the key set
    again.
    """

    def __init__(self, gateway: ScriptedGateway, *, told: bool) -> None:
        self._gateway = gateway
        self._open = not told
        self._lock = Lock()

    def settle(self, token: str, answer: Exchange, send: Callable[[str], Exchange]) -> Exchange:
        """The response to this token, or to the first re-signed copy that the service accepts."""
        with self._lock:
            if not self._open or not _decides(answer) or not self._gateway.is_good(token):
                return answer
            self._open = False
            return self._tried(token, answer, send) if answer.status == 401 else answer

    def _tried(self, token: str, answer: Exchange, send: Callable[[str], Exchange]) -> Exchange:
        gateway = self._gateway
        first = gateway.core_key
        others = [gateway.add_core_key(algorithm) for algorithm in _OTHERS]
        deadline = time.monotonic() + KEY_FOUND_S
        while time.monotonic() < deadline:
            for key in others:
                taken = send(gateway.resigned_with(key, token))
                if taken.status != 401:
                    gateway.keep_core_keys(key)
                    return taken
            wait_for(Cause.KEYS, _PAUSE_S)
        gateway.keep_core_keys(first)
        return answer


def _decides(answer: Exchange) -> bool:
    """True for a success or a refused token: a service with an error has not judged the algorithm."""
    return answer.status is not None and (answer.status < 300 or answer.status == 401)
