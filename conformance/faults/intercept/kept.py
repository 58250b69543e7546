"""One intercepting proxy for all checks of a worker, started on first use."""

from __future__ import annotations

from contextlib import ExitStack

from gateproof.conformance.faults.intercept.interceptor import Interceptor, Trust, intercepting


class Kept:
    """Starts the proxy on first use; without `trust`, no client would accept its certificate."""

    def __init__(self, trust: Trust | None) -> None:
        self.trust = trust
        self._stack = ExitStack()
        self._interceptor: Interceptor | None = None

    def interceptor(self) -> Interceptor:
        """The proxy, without rules."""
        if self._interceptor is None:
            if self.trust is None:
                raise ValueError("an intercepting proxy needs a certificate that the target trusts")
            self._interceptor = self._stack.enter_context(intercepting(self.trust))
        self._interceptor.arm()
        # Removes the exchanges of earlier checks.
        self._interceptor.passed()
        return self._interceptor

    def close(self) -> None:
        self._stack.close()
