"""Gateways that answer 304 for a key set that has changed."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from gateproof.reference.defects.gateway.row import defect
from gateproof.reference.deviations.altered_answers import Answered, Asked, altering_answers
from gateproof.reference.gateway.gateway import Gateway


def with_etag(etag_of: Callable[[bytes], str]) -> dict[str, Any]:
    """Key sets have such an ETag; a request with the same one gets 304."""

    def changed(asked: Asked, answered: Answered, _gateway: Gateway) -> Answered:
        if not asked.path.endswith("/jwks") or answered.status != 200:
            return answered
        etag = etag_of(answered.body)
        tagged = answered.with_header("etag", etag)
        is_same = asked.headers.get("if-none-match") == etag
        return replace(tagged, status=304, body=b"") if is_same else tagged

    return {"around": altering_answers(changed)}


def of_the_content(body: bytes) -> str:
    return f'"{hashlib.sha256(body).hexdigest()}"'


def of_the_oldest_key(body: bytes) -> str:
    """The kid of the oldest key, which stays in the set after a rotation: the current key comes first."""
    keys = json.loads(body)["keys"]
    return f'"{keys[min(1, len(keys) - 1)]["kid"]}"'


DEFECTS = (
    defect(
        "key-set-etag-of-the-start (KEYS-01): The ETag of a key set is made once, when the gateway starts.",
        **with_etag(lambda _body: '"of-the-start"'),
    ),
    defect(
        "key-set-etag-by-one-key (KEYS-01): The ETag of a key set is the kid of its oldest key, which is "
        "still in the set after a rotation.",
        **with_etag(of_the_oldest_key),
    ),
)
