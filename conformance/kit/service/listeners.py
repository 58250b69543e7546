"""The listeners of the world around a service: they can be closed or get other certificates."""

from __future__ import annotations

import ssl
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field

from gateproof.conformance.faults.byte_proxy import ByteProxy, byte_proxy
from gateproof.conformance.kit.authority import Certificate
from gateproof.fakes.gateway.running import Loop
from gateproof.fakes.gateway.script import Endpoint
from gateproof.fakes.listener import SwitchableListener
from gateproof.fakes.serving import server_tls

# Plain HTTP on a listener that should use TLS.
PLAIN = "plain"


@dataclass(frozen=True, kw_only=True)
class ServiceListeners:
    """The listeners by endpoint; `bad_certificates` makes invalid certificates.

    Certificates in `unavailable_certificates` cannot be made, because the target file sets the world's
    certificate.
    """

    loop: Loop
    listeners: Mapping[Endpoint, SwitchableListener]
    tls: ssl.SSLContext | None
    bad_certificates: Callable[[], Mapping[str, Certificate]]
    unavailable_certificates: frozenset[str] = frozenset()
    _contexts: dict[str, ssl.SSLContext | None] = field(default_factory=dict)

    def apart(self, endpoint: Endpoint) -> bool:
        """True if this endpoint has a listener of its own or is the redemption endpoint."""
        listener = self.listeners[endpoint]
        return endpoint is Endpoint.REDEMPTION or listener is not self.listeners[Endpoint.REDEMPTION]

    def behind(self, endpoint: Endpoint) -> list[Endpoint]:
        """All endpoints on the same listener as this endpoint."""
        return [each for each, listener in self.listeners.items() if listener is self.listeners[endpoint]]

    @contextmanager
    def showing(self, endpoint: Endpoint, kind: str) -> Iterator[Callable[[], int]]:
        """During the block, the listener has this invalid certificate; yields a counter of connections."""
        listener, shown = self.listeners[endpoint], self._context(kind)
        self.loop.run(listener.open(shown))
        try:
            yield lambda: listener.connections
        finally:
            self.loop.run(listener.open(self.tls))

    @contextmanager
    def behind_a_proxy(self, endpoint: Endpoint) -> Iterator[ByteProxy]:
        """During the block, all connections to this listener go through a byte-level proxy."""
        listener = self.listeners[endpoint]
        back = listener.another_port()
        self.loop.run(listener.shut())
        self.loop.run(back.open(self.tls))
        try:
            with byte_proxy((back.host, back.port), at=(listener.host, listener.port)) as proxy:
                yield proxy
        finally:
            self.loop.run(back.shut())
            self.loop.run(listener.open(self.tls))

    def make_bad_certificates(self) -> None:
        """Makes the invalid certificates once and in advance, because that takes a while."""
        if not self._contexts:
            wrong = self.bad_certificates()
            self._contexts.update(
                {name: server_tls(each.cert_file, each.key_file) for name, each in wrong.items()}
            )
            self._contexts[PLAIN] = None

    def _context(self, kind: str) -> ssl.SSLContext | None:
        self.make_bad_certificates()
        return self._contexts[kind]
