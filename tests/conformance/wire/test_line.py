"""A request that goes over a line is the one that goes over a connection."""

from __future__ import annotations

from gateproof.conformance.wire.exchange import Request
from gateproof.conformance.wire.pipelining import octets_of
from gateproof.conformance.wire.route import Place


def lines_of(*headers: tuple[str, str], place: Place | None = None) -> list[bytes]:
    request = Request(method="POST", url="https://gateway.test/api/register?a=1", headers=headers, body=b"{}")
    return octets_of(request, place or Place(origins=frozenset())).split(b"\r\n")


def test_a_client_says_who_it_is() -> None:
    lines = lines_of()

    assert lines[0] == b"POST /api/register?a=1 HTTP/1.1"
    assert {b"Host: gateway.test", b"User-Agent: gateproof", b"Accept: */*"} <= set(lines)
    assert b"Content-Length: 2" in lines
    assert lines[-2:] == [b"", b"{}"]


def test_headers_of_the_request_and_of_the_target_take_their_place() -> None:
    lines = lines_of(
        ("accept", "application/json"), place=Place(origins=frozenset(), headers={"USER-AGENT": "one"})
    )

    assert {b"accept: application/json", b"USER-AGENT: one"} <= set(lines)
    assert not {b"Accept: */*", b"User-Agent: gateproof"} & set(lines)
