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

# Plain HTTP where TLS is expected.
PLAIN = "plain"


@dataclass(frozen=True, kw_only=True)
class ServiceListeners:
    """The listeners by endpoint; `bad_certificates` makes invalid certificates.

    Certificates in `unissued` cannot be made, because the world has a certificate from the target file.
    """

    loop: Loop
    listeners: Mapping[Endpoint, SwitchableListener]
    tls: ssl.SSLContext | None
    bad_certificates: Callable[[], Mapping[str, Certificate]]
    unissued: frozenset[str] = frozenset()
    _contexts: dict[str, ssl.SSLContext | None] = field(default_factory=dict)

    def apart(self, endpoint: Endpoint) -> bool:
        """True if this endpoint has a listener of its own or is the redemption endpoint."""
        door = self.listeners[endpoint]
        return endpoint is Endpoint.REDEMPTION or door is not self.listeners[Endpoint.REDEMPTION]

    def behind(self, endpoint: Endpoint) -> list[Endpoint]:
        """All endpoints on the same listener as this one."""
        return [each for each, door in self.listeners.items() if door is self.listeners[endpoint]]

    @contextmanager
    def showing(self, endpoint: Endpoint, face: str) -> Iterator[Callable[[], int]]:
        """During the block, the listener has this invalid certificate; yields a counter of connections."""
        door, shown = self.listeners[endpoint], self._context(face)
        self.loop.run(door.open(shown))
        try:
            yield lambda: door.connections
        finally:
            self.loop.run(door.open(self.tls))

    @contextmanager
    def behind_a_proxy(self, endpoint: Endpoint) -> Iterator[ByteProxy]:
        """During the block, all connections to this listener go through a byte-level proxy."""
        door = self.listeners[endpoint]
        back = door.another_port()
        self.loop.run(door.shut())
        self.loop.run(back.open(self.tls))
        try:
            with byte_proxy((back.host, back.port), at=(door.host, door.port)) as proxy:
                yield proxy
        finally:
            self.loop.run(back.shut())
            self.loop.run(door.open(self.tls))

    def make_bad_certificates(self) -> None:
        """Makes the invalid certificates once and in advance, because that takes a while."""
        if not self._contexts:
            wrong = self.bad_certificates()
            self._contexts.update(
                {name: server_tls(each.cert_file, each.key_file) for name, each in wrong.items()}
            )
            self._contexts[PLAIN] = None

    def _context(self, face: str) -> ssl.SSLContext | None:
        self.make_bad_certificates()
        return self._contexts[face]
