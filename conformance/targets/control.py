"""Control actions: Console operations by a program, over HTTP or by a command."""

from __future__ import annotations

import json
import ssl
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol
from urllib.parse import urlsplit

import httpcore

from gateproof.conformance.targets.model import Reach
from gateproof.conformance.targets.processes import CommandFailed, exit_text, run_command
from gateproof.conformance.wire.http1 import Incoming, Outgoing, escaped, exchanged, has_ended
from gateproof.conformance.wire.pool import End, Line, Pool
from gateproof.conformance.wire.route import trusting

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from gateproof.conformance.wire.secret import Secret

# An adapter answers when the effect holds in all processes, which may take a minute.
TIMEOUT_S = 90.0
# Reusing an idle connection that the server has closed would look like a failed action.
_KEEPALIVE_S = 1.0
LONGEST_ANSWER = 1024 * 1024
# The log since the last call may cover a run of thousands of requests.
LONGEST_LOG = 64 * 1024 * 1024
# Members of an error answer that say what went wrong.
_EXPLAINING = ("error_description", "message", "detail", "error", "reason")
# The shortest word that may be a secret, and punctuation marks that may surround it.
_LIKE_A_SECRET, _MARKS = 8, "\"'`.,:;()[]<>"
_UNSUPPORTED_EXIT = 64
_REFUSED_EXIT = 65


class ControlFailed(Exception):
    """A control action failed, and was not declared unsupported: the test cannot continue."""

    def __init__(self, action: str, what: str) -> None:
        self.action = action
        self.what = what
        super().__init__(f"control action {action}: {what}")


class Refused(ControlFailed):
    """The target refuses these arguments of a control action, and says why."""

    def __init__(self, action: str, why: str) -> None:
        super().__init__(action, f"the target refused: {why}")
        self.why = why


class Unsupported(Exception):
    """The target does not offer this control action."""

    def __init__(self, action: str) -> None:
        self.action = action
        super().__init__(f"control action {action} is not supported")


class ControlPlane(Protocol):
    """Carries out control actions by any transport."""

    def call(self, action: str, /, **arguments: Any) -> dict[str, Any]:
        """The answer to one action; raises Unsupported or ControlFailed."""
        ...


@dataclass(frozen=True, kw_only=True, slots=True)
class Described:
    """The description of a control; without a list of actions, each has to be tried."""

    name: str
    version: str
    actions: frozenset[str] | None
    clock_offset_s: float

    def may_support(self, action: str) -> bool:
        return self.actions is None or action in self.actions


class HttpControl:
    """Control actions as JSON over HTTP, to one URL only.

    This uses the connections of the recorder, because a run calls it thousands of times: see docs/adr/0006.
    """

    def __init__(self, url: str, *, token: Secret | None = None, reach: Reach | None = None) -> None:
        reach = reach or Reach()
        there = httpcore.URL(escaped(url))
        name, is_secure = there.host.decode("ascii"), there.scheme == b"https"
        self._end = End(
            host=name, port=there.port or (443 if is_secure else 80), tls_name=name if is_secure else None
        )
        self._target, self._token = there.target, token
        self._headers = [
            (b"Host", urlsplit(url).netloc.encode()),
            (b"User-Agent", b"gateproof"),
            (b"Accept", b"application/json"),
            (b"Accept-Encoding", b"identity"),
            (b"Content-Type", b"application/json"),
        ]
        if token is not None:
            self._headers.append((b"Authorization", f"Bearer {token.reveal()}".encode()))
        own = {name.lower() for name, _ in self._headers}
        self._further = reach.headers
        further = [(name.encode(), value.encode()) for name, value in reach.headers.items()]
        self._headers += [(name, value) for name, value in further if name.lower() not in own]
        trusted = trusting(reach.ca_file) if is_secure else None
        if trusted is not None and reach.client_cert is not None:
            trusted.load_cert_chain(*reach.client_cert)
        self._pool = Pool(trusted, httpcore.SyncBackend(), keep_s=_KEEPALIVE_S)
        # For an action whose kept connection ended before the answer.
        self._new = Pool(trusted, httpcore.SyncBackend(), keep_s=0.0)

    def close(self) -> None:
        self._pool.close()

    def call(self, action: str, /, **arguments: Any) -> dict[str, Any]:
        asked = json.dumps({"action": action, **arguments}).encode()
        try:
            answer, body = self._answered(action, asked)
        except httpcore.TimeoutException:
            raise ControlFailed(action, f"no answer within {TIMEOUT_S:g} s") from None
        except (httpcore.NetworkError, httpcore.ProtocolError) as error:
            raise ControlFailed(action, _no_answer(error)) from None
        if answer.status == 501:
            raise Unsupported(action)
        what = f"status {answer.status}, {_media_type(answer)}, {len(body)} bytes"
        if answer.status == 422:
            raise Refused(action, _why(_json_object(action, body, what)))
        if answer.status in {401, 403}:
            raise ControlFailed(action, f"{what}; is [control] token_env set, and right?")
        if answer.status != 200:
            token = self._token.reveal() if self._token is not None else ""
            sent = [json.dumps(arguments), token, *self._further.values()]
            raise ControlFailed(action, what + _error_text(body, sent))
        return _json_object(action, body, what)

    def _answered(self, action: str, asked: bytes) -> tuple[Incoming, bytes]:
        """The answer to one request, and its body.

        A server may end a kept connection at any moment. If it does so before the answer, the request is sent
        once more, on a new connection (RFC 9112 section 9.3.1).
        """
        started, body, limit, keep = time.monotonic(), bytearray(), _longest(action), False
        length = (b"Content-Length", b"%d" % len(asked))
        outgoing = Outgoing(b"POST", self._target, [*self._headers, length], asked)
        line, answer = self._begun(outgoing)
        try:
            for chunk in answer.chunks():
                body += chunk
                if len(body) > limit:
                    raise ControlFailed(action, f"the answer is longer than {limit} bytes")
                if time.monotonic() - started > TIMEOUT_S:
                    raise ControlFailed(action, f"the answer did not end within {TIMEOUT_S:g} s")
            # Frameworks answer 500 for an error that nobody handled, and close the connection a moment later.
            keep = answer.allows_another() and (answer.status < 500 or answer.status == 501)
        finally:
            line.give_back(keep=keep)
        return answer, bytes(body)

    def _begun(self, outgoing: Outgoing) -> tuple[Line, Incoming]:
        line = self._pool.take(self._end, connect_s=TIMEOUT_S, wait_s=TIMEOUT_S)
        was_kept = not line.is_new
        try:
            return line, _sent(line, outgoing)
        except (httpcore.ReadError, httpcore.RemoteProtocolError) as error:
            if not was_kept or not has_ended(error):
                raise
        line = self._new.take(self._end, connect_s=TIMEOUT_S, wait_s=TIMEOUT_S)
        return line, _sent(line, outgoing)


def _sent(line: Line, outgoing: Outgoing) -> Incoming:
    """The answer as soon as its head has been received."""
    try:
        return exchanged(line.stream, outgoing, write_s=TIMEOUT_S, read_s=TIMEOUT_S)
    except BaseException:
        line.give_back(keep=False)
        raise


class CommandControl:
    """Control actions by a command that reads and prints JSON; it inherits the environment."""

    def __init__(self, command: Sequence[str], *, cwd: Path) -> None:
        self._command = tuple(command)
        self._cwd = cwd

    def close(self) -> None:
        """Nothing to do: nothing stays open between actions."""

    def call(self, action: str, /, **arguments: Any) -> dict[str, Any]:
        asked = json.dumps({"action": action, **arguments}).encode()
        try:
            done = run_command(
                self._command, cwd=self._cwd, stdin=asked, timeout_s=TIMEOUT_S, limit=_longest(action)
            )
        except CommandFailed as error:
            raise ControlFailed(action, str(error)) from None
        if done.exit_code == _UNSUPPORTED_EXIT:
            raise Unsupported(action)
        what = f"{exit_text(done.exit_code)}, {len(done.stdout)} bytes on stdout"
        if done.exit_code == _REFUSED_EXIT:
            raise Refused(action, _why(_json_object(action, done.stdout, what)))
        if done.exit_code != 0:
            raise ControlFailed(action, what + _error_text(done.stdout, [json.dumps(arguments)]))
        return _json_object(action, done.stdout, what)


def _media_type(answer: Incoming) -> str:
    for name, value in answer.headers:
        if name.lower() == "content-type":
            return value.partition(";")[0][:60]
    return "no content type"


def _longest(action: str) -> int:
    return LONGEST_LOG if action == "logs" else LONGEST_ANSWER


def _why(answer: dict[str, Any]) -> str:
    why = answer.get("refused")
    return why[:200] if isinstance(why, str) and why else "no reason given"


def _error_text(body: bytes, sent: Sequence[str]) -> str:
    """The error text in the answer of a failed action.

    Empty if it contains a word that was sent to the control: that may be a token or a password.
    """
    try:
        answer = json.loads(body.decode("utf-8-sig"))
    except (ValueError, RecursionError):
        return ""
    members: dict[str, Any] = answer if isinstance(answer, dict) else {}
    said = [members[key] for key in _EXPLAINING if isinstance(members.get(key), str)]
    words = said[0].split() if said else []
    quotes = any(
        len(word) >= _LIKE_A_SECRET and word.strip(_MARKS) in each for word in words for each in sent
    )
    return f": {said[0][:200]!r}" if words and not quotes else ""


def _json_object(action: str, body: bytes, what: str) -> dict[str, Any]:
    try:
        answer = json.loads(body.decode("utf-8-sig"))
    except (ValueError, RecursionError):
        raise ControlFailed(action, f"{what}: not JSON") from None
    if not isinstance(answer, dict):
        raise ControlFailed(action, f"{what}: not one JSON object")
    return answer


def _no_answer(error: Exception) -> str:
    """The reason for a missing answer, without library texts: those may contain URLs or headers."""
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, ssl.SSLCertVerificationError):
            return f"the certificate was refused: {cause.verify_message}"
        if isinstance(cause, ConnectionRefusedError):
            return "the connection was refused"
        cause = cause.__cause__ or cause.__context__
    return f"no answer ({type(error).__name__})"
