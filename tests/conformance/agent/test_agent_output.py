"""What an agent prints is searched for values in any form, and a flood for values as they are."""

from __future__ import annotations

import base64
import secrets

from conformance.run.agent_output import Printed, printed

VALUE = secrets.token_urlsafe(32)


def test_value_is_found_in_the_midst_of_a_log() -> None:
    found = printed(f'level=debug body={{"refresh_token": "{VALUE}"}}'.encode(), {"refresh_token": [VALUE]})
    assert found == [Printed(kind="refresh_token", how="as it is")]
    assert found[0].plain


def test_encoded_value_is_found_and_not_called_plain() -> None:
    encoded = base64.b64encode(f"user:{VALUE}".encode())
    found = printed(b"authorization: Basic " + encoded, {"client_secret": [VALUE]})
    assert [each.kind for each in found] == ["client_secret"]
    assert not found[0].plain


def test_flood_is_searched_too() -> None:
    flood = b"x" * 3_000_000 + VALUE.encode() + b"\xff" * 1000
    assert printed(flood, {"code": [VALUE], "access_token": ["something else that is long"]}) == [
        Printed(kind="code", how="as it is")
    ]


def test_empty_values_are_nowhere() -> None:
    assert printed(b"anything", {"code": ["", VALUE]}) == []
