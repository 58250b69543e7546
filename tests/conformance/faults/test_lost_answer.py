"""A connection that is reset as its answer comes still tells how the request was answered."""

from __future__ import annotations

import socket
import threading

import pytest

from gateproof.conformance.faults.misbehaving import answer_lost
from gateproof.conformance.wire.exchange import Request
from gateproof.conformance.wire.route import Place


@pytest.mark.parametrize(
    ("answer", "status"),
    [
        (b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}", 200),
        (b"HTTP/1.0 429 Too Many Requests\r\nRetry-After: 1\r\n\r\n", 429),
        (b"", None),
        (b"nonsense\r\n", None),
    ],
)
def test_status_of_a_lost_answer_is_known(answer: bytes, status: int | None) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:

        def answers() -> None:
            line, _ = server.accept()
            with line:
                line.recv(4096)
                line.sendall(answer)

        thread = threading.Thread(target=answers)
        thread.start()
        origin = f"http://127.0.0.1:{server.getsockname()[1]}"
        place = Place(origins=frozenset({origin}))

        assert answer_lost(place, Request(method="POST", url=f"{origin}/token"), timeout_s=5) == status
        thread.join(5)
