"""What an agent prints is searched for values in any form, however much it is."""

from __future__ import annotations

import base64
import secrets

import pytest

from gateproof.conformance.kit.agent.output import Printed, printed, printed_in
from gateproof.conformance.wire import leaks
from gateproof.fakes.gateway.keys import new_key, signed

VALUE = secrets.token_urlsafe(32)


def test_value_is_found_in_the_midst_of_a_log() -> None:
    found = printed(f'level=debug body={{"refresh_token": "{VALUE}"}}'.encode(), {"refresh_token": [VALUE]})
    assert found == [Printed(kind="refresh_token", how="as it is")]


def test_encoded_value_is_found_and_said_to_be_encoded() -> None:
    encoded = base64.b64encode(f"user:{VALUE}".encode())
    found = printed(b"authorization: Basic " + encoded, {"client_secret": [VALUE]})
    assert [each.said() for each in found] == ["client secret, base64"]


def test_flood_is_searched_too() -> None:
    flood = b"x" * 3_000_000 + VALUE.encode() + b"\xff" * 1000
    assert printed(flood, {"code": [VALUE], "access_token": ["something else that is long"]}) == [
        Printed(kind="code", how="as it is")
    ]


@pytest.mark.parametrize("before", [2 * 1024 * 1024 - 20, 4 * 1024 * 1024 - 1, 4 * 1024 * 1024])
def test_flood_is_searched_where_its_parts_meet_and_for_whatever_can_be_done_to_a_value(before: int) -> None:
    flood = b" " * before + base64.b64encode(f"user:{VALUE}".encode()) + b" " * 1000
    assert printed(flood, {"client_secret": [VALUE]}) == [Printed(kind="client_secret", how="base64")]


def test_short_texts_beside_a_flood_are_searched_as_ever() -> None:
    flood, encoded = b"x" * 3_000_000 + VALUE.encode(), base64.b64encode(f"user:{VALUE}".encode())
    known = {"client_secret": [VALUE]}

    assert printed_in([], known) == []
    assert printed_in([b"nothing", encoded, encoded], known) == [Printed(kind="client_secret", how="base64")]
    found = printed_in([encoded, flood, b"nothing"], known)
    assert [each.how for each in found] == ["base64", "as it is"]


def test_flood_that_repeats_itself_is_searched_once(monkeypatch: pytest.MonkeyPatch) -> None:
    searched: list[str] = []
    search = leaks.CanarySet.search

    def counted(canaries: leaks.CanarySet, text: str) -> list[leaks.Found]:
        searched.append(text)
        return search(canaries, text)

    monkeypatch.setattr(leaks.CanarySet, "search", counted)
    flood = b" " * 20_000_000 + VALUE.encode()
    found = [Printed(kind="code", how="as it is")]

    assert printed(flood, {"code": [VALUE]}) == found
    # The first part, one of those in the middle, and the last one.
    assert len(searched) == 3
    assert printed_in([flood, flood, flood], {"code": [VALUE]}) == found
    assert len(searched) == 6


def test_empty_values_are_nowhere() -> None:
    assert printed(b"anything", {"code": ["", VALUE]}) == []


def test_middle_of_an_id_token_is_as_much_of_it_as_its_end() -> None:
    token = signed({"sub": "sub_alice", "email": "alice@merchant.example"}, new_key("ES256"))
    head, claims, end = token.split(".")
    for text in (f"claims={claims}", f"signature={end}", base64.b64encode(token.encode()).decode()):
        found = printed(text.encode(), {"id_token": [token]})
        assert {each.kind for each in found} == {"id_token"}, text
    assert printed(f"claims={claims} head={head}".encode(), {"access_token": [token]}) == []
    # What a fingerprint shows of a token, and who the user is, are none of it.
    assert printed(b"hello alice@merchant.example, sub_alice", {"id_token": [token]}) == []
    assert printed(f"{token[:20]}…{token[-8:]}".encode(), {"id_token": [token]}) == []
