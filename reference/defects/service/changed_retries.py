"""Services whose retry differs from the first request, or that request too often."""

from __future__ import annotations

import asyncio
import base64
import json
from collections.abc import Callable
from dataclasses import replace
from types import TracebackType
from typing import Any
from urllib.parse import parse_qs, unquote, urlencode

from gateproof.reference.defects.service.failing_parties import (
    for_a_redemption,
    for_a_token,
    for_the_merchant,
)
from gateproof.reference.defects.service.row import defect
from gateproof.reference.service.upstream import Patience, is_retryable
from gateproof.reference.service.wire import Answer, Outgoing

Changed = Callable[[Outgoing], Outgoing]


def again_at(status: int, where: Callable[[Outgoing], bool], change: Changed) -> dict[str, Any]:
    """A request that is answered with this status is repeated at once in changed form."""

    def further(asked: Outgoing, answer: Answer) -> Outgoing | None:
        if answer.status != status or not where(asked):
            return None
        other = change(asked)
        return other if other != asked else None

    return {"followed": further}


def with_a_slash(asked: Outgoing) -> Outgoing:
    resource = json.loads(asked.body)["resource"]
    tidied = resource if resource.endswith("/") else f"{resource}/"
    return replace(asked, body=json.dumps({"resource": tidied}).encode())


def with_its_token_in_the_query(asked: Outgoing) -> Outgoing:
    if "?" in asked.url:
        return asked
    return replace(asked, url=f"{asked.url}?access_token={asked.headers['authorization'].partition(' ')[2]}")


def under_another_scheme(asked: Outgoing) -> Outgoing:
    token = asked.headers["authorization"].partition(" ")[2]
    return replace(asked, headers={**asked.headers, "authorization": f"Token {token}"})


def as_a_form(asked: Outgoing) -> Outgoing:
    kind = "application/x-www-form-urlencoded"
    if asked.headers["content-type"] == kind:
        return asked
    body = urlencode(json.loads(asked.body)).encode()
    return replace(asked, headers={**asked.headers, "content-type": kind}, body=body)


def client_in_the_form(asked: Outgoing) -> Outgoing:
    """`AuthStyleAutoDetect`: if the credentials in the header are refused, they are sent in the form."""
    form = {name: values[0] for name, values in parse_qs(asked.body.decode()).items()}
    if "client_secret" in form:
        return asked
    pair = _decoded(asked.headers["authorization"])
    client = dict(zip(("client_id", "client_secret"), map(unquote, pair.split(":")), strict=True))
    kept = {name: value for name, value in asked.headers.items() if name != "authorization"}
    return replace(asked, headers=kept, body=urlencode(form | client).encode())


def _decoded(basic: str) -> str:
    return base64.b64decode(basic.partition(" ")[2]).decode()


def refused_and_asked_again(answer: Answer | None) -> bool:
    return is_retryable(answer) or (answer is not None and answer.document.get("error") == "invalid_client")


class _LockedOnce:
    """A lock that works only until there is a first Proxy token."""

    def __init__(self) -> None:
        self._lock = asyncio.Lock()
        self._is_there = False
        self._holding = 0

    async def __aenter__(self) -> None:
        if not self._is_there:
            await self._lock.acquire()
            self._holding += 1

    async def __aexit__(
        self, kind: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        self._is_there = self._is_there or kind is None
        if self._holding:
            self._holding -= 1
            self._lock.release()


DEFECTS = (
    defect(
        "indicator-tidied-after-a-404 (BACK-04): If redemption answers 404, the service appends a slash to "
        "the Resource indicator and tries again.",
        **again_at(404, for_a_redemption, with_a_slash),
    ),
    defect(
        "redemption-as-a-form-after-a-400 (BACK-04): If redemption answers 400, the service sends it again "
        "as a form.",
        **again_at(400, for_a_redemption, as_a_form),
    ),
    defect(
        "agents-token-in-the-query-after-a-400 (BACK-04): If redemption answers 400, the service sends it "
        "again with the agent's token in the query, too.",
        **again_at(400, for_a_redemption, with_its_token_in_the_query),
    ),
    defect(
        "merchant-token-in-the-query-after-a-401 (BACK-05 SECRET-07): If the merchant answers 401, the "
        "service sends its token again in the query.",
        **again_at(401, for_the_merchant, with_its_token_in_the_query),
    ),
    defect(
        "merchant-token-under-another-scheme-after-a-403 (BACK-05): If the merchant answers 403, the service "
        "sends its token again under the scheme Token.",
        **again_at(403, for_the_merchant, under_another_scheme),
    ),
    defect(
        "proxy-client-in-the-form-after-a-401 (BACK-01): If the token endpoint answers 401, the service "
        "sends the Proxy client's ID and secret in the form.",
        **again_at(401, for_a_token, client_in_the_form),
    ),
    defect(
        "refused-proxy-client-tries-on (BACK-06): If the token endpoint refuses the Proxy client, the "
        "service sends the request forty times without a pause.",
        worth_another_try=refused_and_asked_again,
        patience=Patience(tries=40, pause_s=0.0),
    ),
    defect(
        "renewals-do-not-wait (BACK-02): Concurrent callers share the request for the first Proxy token, but "
        "when it expires, each requests a new one.",
        one_at_a_time=_LockedOnce,
    ),
)
