"""A script is read field by field; what cannot be carried out is refused with a hint."""

from __future__ import annotations

from typing import Any

import pytest

from gateproof.fakes.merchant.outcomes import PARAMETERS
from gateproof.fakes.merchant.script import Answer, Script, ScriptError, parse_script


def test_empty_script_is_the_friendly_one() -> None:
    assert parse_script({}, PARAMETERS) == Script()


def test_every_field_is_read() -> None:
    script = parse_script(
        {
            "provisioning": "accept",
            "refresh": {"outcome": "hang", "seconds": 2},
            "issue_refresh_token": False,
            "rotate_refresh_tokens": True,
            "omit_refresh_token_on_refresh": False,
            "access_token_lifetime_s": 30,
            "answers": ["ok", {"outcome": "hold", "gate": "g", "parties": 3}],
            "page": "error=access_denied",
            "sign_in": "no_token",
            "id_token": {"aud": "another", "nonce": None},
            "userinfo": {"sub": "another"},
            "alter_id_token_signature": True,
        },
        PARAMETERS,
    )
    assert script == Script(
        provisioning=Answer(outcome="ok"),
        refresh=Answer(outcome="hang", seconds=2),
        issue_refresh_token=False,
        rotate_refresh_tokens=True,
        access_token_lifetime_s=30,
        answers=(Answer(outcome="ok"), Answer(outcome="hold", gate="g", parties=3)),
        page="error=access_denied",
        sign_in=Answer(outcome="no_token"),
        id_token={"aud": "another", "nonce": None},
        userinfo={"sub": "another"},
        alter_id_token_signature=True,
    )
    assert script.error == "access_denied"


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"refesh": "reject"}, "did you mean 'refresh'"),
        ({"refresh": "rejct"}, "did you mean 'reject'"),
        ({"refresh": 7}, "refresh: expected the name"),
        ({"answers": ["accept"]}, "unknown answers"),
        ({"answers": "ok"}, "expected a list"),
        ({"answers": [{"outcome": "hold"}]}, "hold needs gate"),
        ({"answers": [{"outcome": "ok", "seconds": 1}]}, "parameter of ok"),
        ({"answers": [{"outcome": "hang", "seconds": "1"}]}, "seconds"),
        ({"answers": [{"outcome": "hang", "seconds": 1e9}]}, "seconds"),
        ({"answers": [{"outcome": "hold", "gate": ""}]}, "gate"),
        ({"answers": [{"outcome": "hold", "gate": "g", "parties": 0}]}, "parties"),
        ({"answers": [{"outcome": "server_error", "status": 200}]}, "status"),
        ({"answers": [{"outcome": "server_error", "as_date": 1}]}, "as_date: expected true or false"),
        ({"answers": ["redirect"]}, "redirect needs location"),
        ({"answers": [{"outcome": "redirect", "location": ""}]}, "expected an address"),
        ({"answers": [{"outcome": "odd_lifetime", "lifetime": "short"}]}, "lifetime: expected one of"),
        ({"issue_refresh_token": 1}, "true or false"),
        ({"access_token_lifetime_s": 1.5}, "whole number"),
        ({"access_token_lifetime_s": True}, "whole number"),
        ({"access_token_lifetime_s": 0}, "whole number"),
        ({"page": "error="}, "page: expected ok or wrong_password or keep_code or error=CODE"),
        ({"page": "code_of="}, "code_of=LOGIN"),
        ({"state": "tripled"}, "state: expected same or missing"),
        ({"page": ["ok"]}, "page: expected"),
        ({"sign_in": "rejct"}, "did you mean 'reject'"),
        ({"id_token": "none"}, "id_token: expected an object"),
        ({"userinfo": None}, "userinfo: expected an object"),
        ({"alter_id_token_signature": 1}, "true or false"),
        ({"rotate_refresh_tokens": True, "omit_refresh_token_on_refresh": True}, "not both"),
    ],
)
def test_what_cannot_be_carried_out_is_refused(fields: dict[str, Any], message: str) -> None:
    with pytest.raises(ScriptError, match=message):
        parse_script(fields, PARAMETERS)
