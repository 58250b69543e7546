"""Writes answers in the form that the seed selects."""

from __future__ import annotations

import json
from typing import Any

from starlette.responses import Response

from gateproof.fakes.merchant.grants import Issued
from gateproof.fakes.merchant.refusal import Refused
from gateproof.fakes.merchant.shape import Shape

NO_STORE = {"cache-control": "no-store", "pragma": "no-cache"}


def json_answer(
    shape: Shape, members: dict[str, Any], *, status: int = 200, headers: dict[str, str] | None = None
) -> Response:
    body = json.dumps(shape.ordered(members), separators=(f",{shape.json_indent}", ": ")).encode()
    return Response(body, status, headers={"content-type": shape.json_type, **(headers or {})})


def refusal_answer(shape: Shape, refused: Refused) -> Response:
    """The error answer of RFC 6749; a 401 has the challenge that HTTP requires."""
    described = {"error_description": refused.description} if shape.describes_errors else {}
    challenge = {"www-authenticate": 'Basic realm="token endpoint"'} if refused.status == 401 else {}
    return json_answer(
        shape, {"error": refused.error, **described}, status=refused.status, headers={**NO_STORE, **challenge}
    )


def token_answer(shape: Shape, issued: Issued, extra: dict[str, Any]) -> Response:
    """A successful token answer, with some non-standard members."""
    members: dict[str, Any] = {
        "access_token": issued.access_token,
        "token_type": shape.token_type,
        "expires_in": issued.lifetime_s,
        "x_trace": {"region": "test", "hops": [1, 2]},
        "not_before_policy": 0,
        **extra,
    }
    optional = {
        "refresh_token": issued.refresh_token,
        "id_token": issued.id_token,
        "scope": issued.scope if shape.sends_scope else None,
    }
    members.update({name: value for name, value in optional.items() if value is not None})
    return json_answer(shape, members, headers=NO_STORE)
