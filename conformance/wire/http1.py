"""One HTTP/1.1 exchange over a connection that is already open.

Nearly all requests and answers have an ordinary form: values on single lines, and a body of a stated length.
These are written and read here. Everything else is left to h11, which decides what is HTTP: a form is
ordinary only if h11 would write or read it in the same way.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Protocol, cast
from urllib.parse import quote

import h11
import httpcore

from gateproof.conformance.wire.exchange import HTTP_1_1, Headers

# The message of the exception for a connection that ended before an answer.
_ENDED = "the connection ended before an answer"
_MOST_READ = 64 * 1024
_LONGEST_HEAD = 100 * 1024
_TOKEN = rb"[!#$%&'*+.^_`|~0-9A-Za-z-]++"
_TEXT = rb"[!-~\x80-\xff]++(?:[ \t]++[!-~\x80-\xff]++)*+"
_NAME, _VALUE, _TARGET = re.compile(_TOKEN), re.compile(rb"(?:%b)?+" % _TEXT), re.compile(rb"[!-~]+")
_HEAD = re.compile(rb"HTTP/1\.1 ([2-9][0-9]{2}) ([ -~]*+)\r\n((?:%b: (?:%b)?+\r\n)*+)\r\n" % (_TOKEN, _TEXT))
_LENGTH = re.compile("[0-9]{1,9}")
# Headers of a request that change how its body is sent, or the protocol.
_RARE = frozenset({b"transfer-encoding", b"upgrade"})
_BODILESS = frozenset({204, 304})
# Characters that strict servers accept on a request line; others are percent-encoded.
_UNESCAPED = "!$%&'()*+,;=:@/?[]"
# As `quote` does, which takes longer.
_NEEDS_NO_ESCAPE = re.compile(rf"[A-Za-z0-9_.~\-{re.escape(_UNESCAPED)}]*")


def escaped(target: str) -> str:
    """A URL, or its path and query, as it may stand on a request line."""
    return target if _NEEDS_NO_ESCAPE.fullmatch(target) else quote(target, safe=_UNESCAPED)


class Outgoing:
    """A request as octets; raises httpcore.LocalProtocolError for what HTTP does not allow."""

    def __init__(
        self, method: bytes, target: bytes, headers: Sequence[tuple[bytes, bytes]], body: bytes
    ) -> None:
        self.method = method
        self._target, self._headers, self._body = target, headers, body
        head = self._ordinary_head()
        self._sender: h11.Connection | None = None
        if head is None:
            self._sender, self.octets = self._written_by_h11()
        else:
            self.octets = head + body

    def is_ordinary(self) -> bool:
        return self._sender is None

    def reader(self) -> h11.Connection:
        """An h11 connection over which the request was sent, and which reads the answer."""
        return self._sender or self._written_by_h11()[0]

    def _ordinary_head(self) -> bytes | None:
        """The head if the request has the ordinary form, else None."""
        if self.method == b"CONNECT" or not (
            _NAME.fullmatch(self.method) and _TARGET.fullmatch(self._target)
        ):
            return None
        lines, hosts, lengths = [b""], 0, 0
        for name, value in self._headers:
            if (written := _written(name, value)) is None:
                return None
            line, kind = written
            if kind == b"host":
                lines[0], hosts = line, hosts + 1
                continue
            if kind == b"content-length":
                lengths += 1
                if value != b"%d" % len(self._body):
                    return None
            elif kind in _RARE or (kind == b"connection" and value.lower() != b"keep-alive"):
                return None
            lines.append(line)
        if hosts != 1 or lengths > 1 or (self._body and not lengths):
            return None
        return b"%b %b HTTP/1.1\r\n%b\r\n" % (self.method, self._target, b"".join(lines))

    def _written_by_h11(self) -> tuple[h11.Connection, bytes]:
        connection = h11.Connection(h11.CLIENT, max_incomplete_event_size=_LONGEST_HEAD)
        try:
            request = h11.Request(method=self.method, target=self._target, headers=list(self._headers))
            events = (request, h11.Data(data=self._body), h11.EndOfMessage())
            return connection, b"".join(connection.send(event) or b"" for event in events)
        except h11.LocalProtocolError as error:
            raise httpcore.LocalProtocolError(str(error)) from error


# Most headers of a request are those of the one before.
@lru_cache(maxsize=256)
def _written(name: bytes, value: bytes) -> tuple[bytes, bytes] | None:
    """The line of a header and its name in lower case; None if the header has no ordinary form."""
    if not (_NAME.fullmatch(name) and _VALUE.fullmatch(value)):
        return None
    return b"%b: %b\r\n" % (name, value), name.lower()


class Incoming(Protocol):
    """An answer whose head has been received."""

    status: int
    phrase: str
    headers: Headers
    version: str

    def chunks(self) -> Iterator[bytes]:
        """The body as it is received."""

    def allows_another(self) -> bool:
        """True if the connection can be used for another request."""


def exchanged(
    stream: httpcore.NetworkStream, request: Outgoing, *, write_s: float, read_s: float
) -> Incoming:
    """Sends the request, and reads the head of its answer."""
    is_sent = True
    try:
        stream.write(request.octets, write_s)
    except httpcore.WriteError:
        # The server may have answered early and closed.
        is_sent = False
    octets = b""
    if request.is_ordinary():
        octets = stream.read(_MOST_READ, read_s)
        if not octets:
            raise httpcore.RemoteProtocolError(_ENDED)
        if (found := _ordinary(stream, request.method, octets, read_s)) is not None:
            found.keeps = found.keeps and is_sent
            return found
    return _Careful(stream, request.reader(), octets, read_s=read_s, keeps=is_sent)


@lru_cache(maxsize=1024)
def _field(line: str) -> tuple[str, str]:
    """Name and value of a header; the same object for the same line, because a run keeps all its answers."""
    name, _, value = line.partition(": ")
    return name, value


def _ordinary(
    stream: httpcore.NetworkStream, method: bytes, octets: bytes, read_s: float
) -> _Ordinary | None:
    """The answer if all of its head was received and has the ordinary form, else None."""
    head = _HEAD.match(octets)
    if head is None:
        return None
    status, length, keeps = int(head[1]), None, True
    lines = head[3].decode("latin-1").split("\r\n")[:-1]
    headers = tuple(map(_field, lines))
    for name, value in headers:
        kind = name.lower()
        if kind == "content-length":
            if length is not None or not _LENGTH.fullmatch(value):
                return None
            length = int(value)
        elif kind == "transfer-encoding":
            return None
        elif kind == "connection":
            keeps = keeps and "close" not in {each.strip() for each in value.lower().split(",")}
    if method == b"HEAD" or status in _BODILESS:
        length = 0
    if length is None:
        return None
    return _Ordinary(
        status=status,
        phrase=head[2].decode("ascii"),
        headers=headers,
        keeps=keeps,
        stream=stream,
        received=octets[head.end() :],
        left=length,
        read_s=read_s,
    )


@dataclass(kw_only=True, slots=True)
class _Ordinary:
    """An answer of ordinary form; `left` is how much of its body is still to come."""

    status: int
    phrase: str
    headers: Headers
    keeps: bool
    stream: httpcore.NetworkStream
    received: bytes
    left: int
    read_s: float
    version: str = HTTP_1_1
    is_read: bool = False

    def chunks(self) -> Iterator[bytes]:
        octets = self.received
        while self.left:
            if not octets and not (octets := self.stream.read(_MOST_READ, self.read_s)):
                raise httpcore.RemoteProtocolError("the connection ended before the body did")
            part, octets = octets[: self.left], octets[self.left :]
            self.left -= len(part)
            yield part
        # What came behind the answer must not become the answer to the next request.
        self.keeps = self.keeps and not octets
        self.is_read = True

    def allows_another(self) -> bool:
        return self.keeps and self.is_read


class _Careful:
    """An answer that h11 reads; `octets` of it have been received."""

    def __init__(
        self,
        stream: httpcore.NetworkStream,
        connection: h11.Connection,
        octets: bytes,
        *,
        read_s: float,
        keeps: bool,
    ) -> None:
        self._stream, self._connection = stream, connection
        self._read_s, self._keeps = read_s, keeps
        if octets:
            connection.receive_data(octets)
        event = self._event()
        while not isinstance(event, h11.Response) and getattr(event, "status_code", None) != 101:
            event = self._event()
        assert isinstance(event, h11.Response | h11.InformationalResponse)  # noqa: S101 - all that has a status
        self.status, self.phrase = event.status_code, event.reason.decode("latin-1")
        self.version = event.http_version.decode("ascii")
        self.headers: Headers = tuple(
            (name.decode("latin-1"), value.decode("latin-1")) for name, value in event.headers.raw_items()
        )

    def chunks(self) -> Iterator[bytes]:
        while isinstance(event := self._event(), h11.Data):
            yield bytes(event.data)

    def allows_another(self) -> bool:
        states = (self._connection.our_state, self._connection.their_state)
        return self._keeps and states == (h11.DONE, h11.DONE) and not self._connection.trailing_data[0]

    def _event(self) -> h11.Event | type[h11.PAUSED]:
        while True:
            try:
                event = self._connection.next_event()
            except h11.RemoteProtocolError as error:
                raise httpcore.RemoteProtocolError(str(error)) from error
            if event is not h11.NEED_DATA:
                return cast("h11.Event | type[h11.PAUSED]", event)
            octets = self._stream.read(_MOST_READ, self._read_s)
            if not octets and self._connection.their_state is h11.SEND_RESPONSE:
                raise httpcore.RemoteProtocolError(_ENDED)
            self._connection.receive_data(octets)


def has_ended(error: Exception) -> bool:
    """True if the connection ended before an answer; false for an answer that is not HTTP."""
    return isinstance(error, httpcore.ReadError) or str(error) == _ENDED
