"""Gateways that read a credential from the wrong place, mix up Projects or scopes, or reveal a credential."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from urllib.parse import parse_qsl

from starlette.types import ASGIApp, Receive, Scope, Send

from gateproof.reference.defects.gateway.proxy_clients import redemption_check_replaced
from gateproof.reference.defects.gateway.row import defect
from gateproof.reference.deviations.altered_answers import Answered, Asked
from gateproof.reference.deviations.leaks import REDEMPTION, TOKEN, access_token_in, logging, with_member
from gateproof.reference.gateway.gateway import Gateway
from gateproof.reference.gateway.policy import redemption
from gateproof.reference.gateway.policy.discovery import REDEMPTION_SCOPE
from gateproof.reference.gateway.policy.redemption import RedemptionFacts
from gateproof.reference.gateway.records import Agent
from gateproof.reference.outcomes import Refusal

Headers = list[tuple[bytes, bytes]]


def rewritten(change: Callable[[Headers], Headers]) -> Callable[[ASGIApp, Gateway], ASGIApp]:
    """Changes the headers of a redemption before they are read."""

    def around(app: ASGIApp, _gateway: Gateway) -> ASGIApp:
        async def changed(scope: Scope, receive: Receive, send: Send) -> None:
            if scope["path"] == REDEMPTION:
                scope = {**scope, "headers": change(list(scope["headers"]))}
            await app(scope, receive, send)

        return changed

    return around


def split_at_a_comma(headers: Headers) -> Headers:
    """`Authorization: Bearer USER, Bearer PROXY` is read as both headers."""
    found = Headers()
    for name, value in headers:
        first, comma, second = value.partition(b", Bearer ")
        both = name == b"authorization" and comma
        found += [(name, first), (b"x-proxy-token", second)] if both else [(name, value)]
    return found


def from_proxy_authorization(headers: Headers) -> Headers:
    if any(name == b"x-proxy-token" for name, _ in headers):
        return headers
    return [
        (b"x-proxy-token", value.removeprefix(b"Bearer "))
        if name == b"proxy-authorization"
        else (name, value)
        for name, value in headers
    ]


def from_a_cookie(headers: Headers) -> Headers:
    """Reads the access token from a cookie if there is no Authorization header."""
    if any(name == b"authorization" for name, _ in headers):
        return headers
    kept = [value.partition(b"access_token=")[2] for name, value in headers if name == b"cookie"]
    return [*headers, *((b"authorization", b"Bearer " + token) for token in kept if token)]


def projects_by_name() -> dict[str, Any]:
    """Compares Projects by name."""
    held: list[Gateway] = []

    def around(app: ASGIApp, gateway: Gateway) -> ASGIApp:
        held[:] = [gateway]
        return app

    def same(facts: RedemptionFacts) -> Refusal | None:
        projects = held[0].store.projects
        ids = (facts.project_id, facts.proxy_token.project_id if facts.proxy_token is not None else None)
        one, other = (projects.get(each or "") for each in ids)
        if one is None or other is None or one.name != other.name:
            return redemption.same_project(facts)
        return None

    return {"around": around, **redemption_check_replaced(redemption.same_project, same)}


def granted_on_request(requested: tuple[str, ...], agent: Agent) -> tuple[str, ...]:
    """Does not add a withheld scope, but does not remove it from the request either."""
    if agent.withholds_redemption_scope:
        return requested
    return tuple(dict.fromkeys((*requested, REDEMPTION_SCOPE)))


def refused_refresh_token(asked: Asked, answered: Answered) -> str:
    sent = dict(parse_qsl(asked.body.decode("latin-1"))).get("refresh_token", "")
    return f"refused refresh of {sent}" if answered.status >= 400 and sent else ""


def refused_assertion(asked: Asked, answered: Answered) -> str:
    fields = dict(parse_qsl(asked.body.decode("latin-1")))
    sent = fields.get("assertion") or fields.get("subject_token") or ""
    return f"no such grant for {sent}" if answered.status >= 400 and sent else ""


DEFECTS = (
    defect(
        "proxy-token-behind-a-comma (REDEEM-04): Redemption accepts a Proxy token in Authorization, after "
        "the access token and a comma.",
        around=rewritten(split_at_a_comma),
    ),
    defect(
        "proxy-token-from-proxy-authorization (REDEEM-04): Redemption accepts a Proxy token in "
        "Proxy-Authorization.",
        around=rewritten(from_proxy_authorization),
    ),
    defect(
        "access-token-from-a-cookie (REDEEM-03): A redemption without Authorization uses the access token of "
        "a cookie.",
        around=rewritten(from_a_cookie),
    ),
    defect(
        "projects-compared-by-name (REDEEM-05): The gateway treats two Projects with the same name as one.",
        **projects_by_name(),
    ),
    defect(
        "withheld-scope-for-the-asking (REDEEM-08): An agent from which ext_token:read is withheld gets it "
        "by requesting it.",
        granted_scopes=granted_on_request,
    ),
    defect(
        "merchant-token-in-the-410 (SECRET-02 SECRET-06): The 410 contains the expired merchant token.",
        around=access_token_in(
            lambda asked, answered: asked.path.endswith(REDEMPTION) and answered.status == 410,
            lambda answered, token: with_member(answered, "detail", f"expired: {token}"),
        ),
    ),
    defect(
        "refused-refresh-token-in-the-log (SECRET-05 SECRET-08): The gateway logs the refresh_token of a "
        "refused token request.",
        around=logging(refused_refresh_token, TOKEN),
    ),
    defect(
        "refused-assertion-in-the-log (SECRET-05): The gateway logs the assertion or subject_token of a "
        "refused token request.",
        around=logging(refused_assertion, TOKEN),
    ),
)
