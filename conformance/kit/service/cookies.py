"""An agent that keeps the cookies of a service, like browsers and many HTTP clients."""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace

from gateproof.conformance.kit.service.service import Service
from gateproof.conformance.signin.cookies import Jar
from gateproof.conformance.wire.exchange import Exchange, Request
from gateproof.conformance.wire.secret import Secret


@dataclass(frozen=True, kw_only=True)
class CookieKeeper:
    """Sends requests with all cookies of the service, with a token or without."""

    service: Service
    jar: Jar = field(default_factory=lambda: Jar(time.time), repr=False)

    def serve(self, token: str) -> Exchange:
        """Calls the operation with this token and all cookies so far."""
        self.service.keyring.add(Secret("access_token", token))
        return self.service.operate_by(self._send, f"Bearer {token}")

    def operate(self) -> Exchange:
        """Calls the operation with all cookies so far, and without Authorization."""
        return self.service.operate_by(self._send)

    def has_cookies(self) -> bool:
        """True if there is a cookie for the URL of the operation."""
        return self.jar.header(self.service.request(()).url) is not None

    def _send(self, step: str, request: Request) -> Exchange:
        cookies = self.jar.header(request.url)
        own = (("Cookie", cookies),) if cookies is not None else ()
        answer = self.service.wire.send(step, replace(request, headers=(*request.headers, *own)))
        if answer.answer is not None:
            self.jar.store(request.url, answer.answer.headers_named("Set-Cookie"))
        return answer
