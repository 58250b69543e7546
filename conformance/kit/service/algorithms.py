"""Finds out which signature algorithm a service accepts, if the target file does not name it."""

from __future__ import annotations

import time
from collections.abc import Callable
from enum import Enum
from threading import Lock

from gateproof.conformance.suite.claims import LeftOut
from gateproof.conformance.suite.pauses import Cause, wait_for
from gateproof.conformance.suite.time_limits import KEY_FOUND_S
from gateproof.conformance.wire.exchange import Exchange
from gateproof.fakes.gateway.gateway import ScriptedGateway
from gateproof.fakes.gateway.script import Endpoint

# RS256 comes first: many JWT libraries accept nothing else by default.
USUAL = "RS256"
_OTHERS = ("ES256", "PS256", "EdDSA")
_PAUSE_S = 2.0


class Verdict(Enum):
    """What an answer says of the token's algorithm."""

    ACCEPTED = "accepted"
    REFUSED = "refused"
    UNKNOWN = "unknown"


class Algorithms:
    """Settles the signature algorithm of good tokens for the rest of the run.

    If the service refuses the first good token, keys of the other algorithms are added to the core key set,
    and the token is sent again, as it was and signed with each of them. A service may need a while to fetch
    the key set again.
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
            said = self._verdict(token, answer, mark)
            if said is Verdict.UNKNOWN:
                return answer
            self._open = False
            return answer if said is Verdict.ACCEPTED else self._tried(token, answer, send)

    def _tried(self, token: str, answer: Exchange, send: Callable[[str], Exchange]) -> Exchange:
        gateway = self._gateway
        kept = first = gateway.core_key
        others = [gateway.add_core_key(algorithm) for algorithm in _OTHERS]
        copies = [(first, token), *((key, gateway.resigned_with(key, token)) for key in others)]
        deadline = time.monotonic() + KEY_FOUND_S
        try:
            while time.monotonic() < deadline:
                for key, copy in copies:
                    mark = gateway.journal.mark()
                    try:
                        taken = send(copy)
                    except LeftOut:
                        # An MCP server without sessions, which has accepted the token.
                        kept = key
                        raise
                    if self._verdict(copy, taken, mark) is Verdict.ACCEPTED:
                        kept = key
                        return taken
                wait_for(Cause.KEYS, _PAUSE_S)
            return answer
        finally:
            gateway.keep_core_keys(kept)

    def _verdict(self, token: str, answer: Exchange, mark: int) -> Verdict:
        """A service may answer 401 for a token that it has accepted, if gateway or merchant fail it then."""
        if answer.status is not None and answer.status < 300:
            return Verdict.ACCEPTED
        calls = self._gateway.journal.since(mark, Endpoint.REDEMPTION, Endpoint.TOKEN)
        if any(call.header("authorization") == f"Bearer {token}" for call in calls):
            return Verdict.ACCEPTED
        failed = any(call.endpoint is Endpoint.TOKEN and call.status >= 400 for call in calls)
        return Verdict.REFUSED if answer.status == 401 and not failed else Verdict.UNKNOWN
