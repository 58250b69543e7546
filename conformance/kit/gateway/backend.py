"""An operator's backend: it gets Proxy tokens, redeems, and uses the merchant tokens."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection
from dataclasses import dataclass

from gateproof.conformance.kit.gateway.gateway import Gateway
from gateproof.conformance.kit.gateway.merchant_backoff import Backoff
from gateproof.conformance.kit.gateway.worker_state import WorkerState
from gateproof.conformance.suite.claims import require
from gateproof.conformance.suite.parties import Grant, Project
from gateproof.conformance.suite.pauses import Cause, wait_for
from gateproof.conformance.suite.time_limits import PROVISIONING_S
from gateproof.conformance.wire import backend as backend_wire
from gateproof.conformance.wire.exchange import Exchange
from gateproof.conformance.wire.secret import Secret


@dataclass(frozen=True, kw_only=True, slots=True)
class Backend:
    """Redeems as an operator's backend does; the name of each method says what it waits for."""

    gateway: Gateway
    worker_state: WorkerState
    home: Callable[[], Project]
    sign_in_again: Callable[[Grant], Grant]
    merchant_api: str | None

    def proxy_token(self, project: Project | None = None) -> Secret:
        """A Proxy token of the Project's Proxy client."""
        answer = require(self.gateway.proxy_token((project or self.home()).proxy_client)).status(200)
        step = require.step_of("Proxy token request")
        token = step.text(answer.member("access_token"), "access_token of the Proxy token request")
        return self.gateway.keyring.secret("proxy_token", token)

    def redeem_once_provisioned(
        self, grant: Grant, proxy_token: Secret, *, not_yet: Collection[int] = (404,)
    ) -> Exchange:
        """Redeems; retries after a status in `not_yet` while provisioning may still be running."""
        deadline = time.monotonic() + self.worker_state.patience_s(PROVISIONING_S)
        while True:
            answer = self.gateway.redeem(grant.access_token, proxy_token, grant.resource.indicator)
            if answer.status not in not_yet or time.monotonic() > deadline:
                self.worker_state.note(answer, in_vain=answer.status in not_yet)
                return answer
            wait_for(Cause.PROVISIONING, 0.25)

    def require_redeemed(
        self, grant: Grant, proxy_token: Secret, *, not_yet: Collection[int] = (404,)
    ) -> Exchange:
        """Redeems and requires status 200."""
        return require(self.redeem_after_backoff(grant, proxy_token, not_yet=not_yet)).status(200)

    def redeem_after_backoff(
        self, grant: Grant, proxy_token: Secret, *, not_yet: Collection[int] = (404,)
    ) -> Exchange:
        """Redeems; if an earlier check broke the merchant, signs in and retries while a back-off may last.

        A gateway with an open circuit breaker may not have called its merchant at the sign-in.
        """
        backoff = Backoff(self.worker_state)
        answer = self.redeem_once_provisioned(grant, proxy_token, not_yet=not_yet)
        while answer.status != 200 and not backoff.is_over(answer):
            wait_for(Cause.RECOVERY, 1)
            grant = self.sign_in_again(grant)
            answer = self.redeem_once_provisioned(grant, proxy_token, not_yet=not_yet)
        return answer

    def merchant_token(self, grant: Grant, proxy_token: Secret) -> Secret:
        answer = self.require_redeemed(grant, proxy_token)
        step = require.step_of("redemption")
        token = step.text(answer.member("access_token"), "access_token of the redemption")
        return self.gateway.keyring.secret("merchant_access_token", token)

    def orders(self, merchant_token: Secret) -> Exchange:
        """The response of the merchant API to a request with this token."""
        request = backend_wire.merchant_orders(self.merchant_api or "", merchant_token)
        return self.gateway.wire.send("merchant API", request)
