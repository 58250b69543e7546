"""One intercepting proxy for all checks of a worker that ask for it, started when the first one does."""

from __future__ import annotations

from contextlib import ExitStack

from gateproof.conformance.faults.intercept.interceptor import Interceptor, Trust, intercepting


class Kept:
    """Starts nothing before somebody asks; without trust nobody would believe what the proxy shows."""

    def __init__(self, trust: Trust | None) -> None:
        self.trust = trust
        self._stack = ExitStack()
        self._interceptor: Interceptor | None = None

    def interceptor(self) -> Interceptor:
        """The proxy, as one that has no rules."""
        if self._interceptor is None:
            if self.trust is None:
                raise ValueError("an intercepting proxy needs a certificate that the target trusts")
            self._interceptor = self._stack.enter_context(intercepting(self.trust))
        self._interceptor.arm()
        # What passed in an earlier check is nothing of this one.
        self._interceptor.passed()
        return self._interceptor

    def close(self) -> None:
        self._stack.close()
