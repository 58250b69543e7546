"""Detects from the outside of a TLS connection whether a request was sent."""

from __future__ import annotations

_HEADER = 5
_HANDSHAKE, _APPLICATION_DATA = 0x16, 0x17
# The last handshake message of TLS 1.3 looks like application data. It is shorter than any request.
_LONGER_THAN_FINISHED = 128


class Asked:
    """Reads the TLS records of a client; data that does not start like TLS counts as a request."""

    def __init__(self) -> None:
        self.seen = False
        self._waiting = bytearray()
        self._rest = 0
        self._secure: bool | None = None

    def feed(self, octets: bytes) -> bool:
        """True once the first octets of a request were read."""
        if self._secure is None and octets:
            self._secure = octets[0] == _HANDSHAKE
        if not self._secure:
            self.seen |= bool(octets)
        while octets and not self.seen:
            octets = self._record(octets)
        return self.seen

    def _record(self, octets: bytes) -> bytes:
        """Reads up to the end of a record or of the data; returns the rest."""
        if self._rest:
            taken = min(self._rest, len(octets))
            self._rest -= taken
            return octets[taken:]
        lacking = _HEADER - len(self._waiting)
        self._waiting += octets[:lacking]
        if len(self._waiting) == _HEADER:
            kind, self._rest = self._waiting[0], int.from_bytes(self._waiting[3:])
            self._waiting.clear()
            self.seen = kind == _APPLICATION_DATA and self._rest > _LONGER_THAN_FINISHED
        return octets[lacking:]
