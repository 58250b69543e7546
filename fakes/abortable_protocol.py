"""uvicorn's protocol with a way to reset a connection instead of answering."""

from __future__ import annotations

import contextlib
import re
import socket
import struct
from typing import TYPE_CHECKING, cast

from uvicorn.server import ServerState

from gateproof.doubles.joined_writes import JoiningProtocol
from gateproof.fakes.extensions import ABORT, WRITE

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Callable

_LINGER_ZERO = struct.pack("ii", 1, 0)
_OFFER = re.compile(rb"\r\nupgrade:[ \t]*h2c[ \t]*(?=\r\n)", re.IGNORECASE)


class State(ServerState):
    """The connections of one listener, and whether it is closed."""

    def __init__(self) -> None:
        super().__init__()
        self.closed = False


class AbortableProtocol(JoiningProtocol):
    """Gives every request a function that resets its connection, and one that writes raw bytes to it."""

    # Replaced for each listener.
    is_closed: Callable[[], bool] = staticmethod(bool)

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Drops a connection that was accepted just before its listener was closed."""
        super().connection_made(transport)
        if self.is_closed():
            self.abort()

    def data_received(self, data: bytes) -> None:
        """Removes an offer to upgrade to HTTP/2, which any server may ignore (RFC 9110 section 7.8).

        After such an offer the parser treats the rest as the other protocol, and the request loses its body.
        """
        super().data_received(_OFFER.sub(b"", data))

    def on_message_begin(self) -> None:
        super().on_message_begin()
        cast(dict[str, object], self.scope)["extensions"] = {
            ABORT: self.abort,
            WRITE: self.transport.write,
        }

    def abort(self) -> None:
        """Drops the connection with a TCP reset, without an answer and without a TLS close."""
        # A TLS transport that the client has closed has no socket any more, and asking for it raises.
        with contextlib.suppress(OSError, AttributeError):
            plain = self.transport.get_extra_info("socket")
            if plain is not None:
                plain.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _LINGER_ZERO)
        self.transport.abort()
