"""Services that serve a token to the caller who brought it first, or think of callers by what they say."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import urlsplit

from gateproof.reference.defects.service.mcp import method_of
from gateproof.reference.defects.service.mcp_operations import given
from gateproof.reference.defects.service.other_routes import unguarded
from gateproof.reference.defects.service.row import defect, mcp_defect
from gateproof.reference.deviations.altered_answers import Answered, meddling
from gateproof.reference.deviations.altered_answers import Asked as AskedFor
from gateproof.reference.service.backend import Backend
from gateproof.reference.service.mcp import TOOL
from gateproof.reference.service.policy import validation
from gateproof.reference.service.wire import Asked

NEXT = "2026-07-28"


def bound_to(*names: str) -> Callable[[Asked], str | None]:
    """`fingerprint(request)`: whoever brings a token with other headers than the first has stolen it."""
    seen: dict[str, list[list[str]]] = {}

    def presented(asked: Asked) -> str | None:
        token = validation.presented_token(asked)
        said = [asked.headers_named(name) for name in names]
        return token if token is None or seen.setdefault(token, said) == said else None

    return presented


def open_where(name: str, is_open: Callable[[str], bool]) -> Any:
    """Who comes without a token, and with this header, is shown what was shown last."""
    return unguarded(lambda asked: is_open(asked.headers.get(name, "")))


def host_kept(*, of_the_document: bool) -> Any:
    """`baseUrl ??= "https://" + request.host`: whoever comes first, by way of a proxy, says it for all."""
    hosts: list[str] = []

    def named(headers: Mapping[str, str]) -> str:
        return headers.get("x-forwarded-host", "")

    def change(asked: AskedFor, answered: Answered, backend: Backend) -> Answered:
        if host := named(asked.headers):
            hosts[:] = [host]
        own = urlsplit(backend.settings.service_url).netloc
        is_document = asked.path.startswith("/.well-known") and answered.status == 200
        if not hosts or named(asked.headers) or of_the_document != is_document:
            return answered
        if is_document:
            body = answered.body.replace(own.encode(), hosts[0].encode())
            return Answered(status=200, headers=answered.headers, body=body)
        headers = tuple((name, value.replace(own, hosts[0])) for name, value in answered.headers)
        return Answered(status=answered.status, headers=headers, body=answered.body)

    return meddling(change)


def next_version_unguarded(asked: AskedFor, answered: Answered, _backend: Backend) -> Answered:
    """The newest version of MCP has a route of its own, and the guard stands before the old one."""
    newest = asked.headers.get("mcp-protocol-version") == NEXT and "mcp-method" in asked.headers
    if answered.status == 401 and newest and method_of(asked) == "tools/list":
        return given(asked, {"tools": [TOOL]})
    return answered


DEFECTS = (
    defect(
        "token-of-the-program-that-brought-it (SERVE-01): A token belongs to the User-Agent that brought it "
        "first.",
        presented_token=bound_to("user-agent"),
    ),
    defect(
        "token-of-a-fingerprint (SERVE-01): A token belongs to whoever brought it first, by address and "
        "language.",
        presented_token=bound_to("x-forwarded-for", "accept-language"),
    ),
    defect(
        "local-callers-trusted (CHAL-01): Who comes from this machine, by X-Forwarded-For, needs no token.",
        around=open_where("x-forwarded-for", lambda value: value == "127.0.0.1"),
    ),
    defect(
        "user-of-a-proxy-trusted (CHAL-01): Who was authenticated by a proxy, by X-Remote-User, needs no "
        "token.",
        around=open_where("x-remote-user", bool),
    ),
    defect(
        "guard-left-out-for-subrequests (CHAL-01): A request that says that it comes from the guard itself "
        "does not pass it again.",
        around=open_where("x-middleware-subrequest", lambda value: value.count("middleware") >= 5),
    ),
    defect(
        "first-version-of-an-api-unguarded (CHAL-01): The guard stands before the second version, and who "
        "asks for the first is not stopped.",
        around=open_where("accept-version", lambda value: value == "1"),
    ),
    mcp_defect(
        "mcp-health-checks-unguarded (CHAL-01): Whoever says that it is a load balancer's health check needs "
        "no token.",
        around=unguarded(
            lambda asked: asked.headers.get("user-agent", "").startswith("ELB-HealthChecker"),
            lambda asked: asked.path == "/mcp" and method_of(asked) == "tools/call",
        ),
    ),
    mcp_defect(
        "newest-version-of-mcp-unguarded (CHAL-10): Requests by the newest version of MCP do not pass the "
        "guard.",
        around=meddling(next_version_unguarded),
    ),
    defect(
        "pointer-to-the-last-forwarded-host (CHAL-02): The challenge names the host that the last caller "
        "by way of a proxy named.",
        around=host_kept(of_the_document=False),
    ),
    defect(
        "document-of-the-last-forwarded-host (META-04): The metadata name the host that the last caller by "
        "way of a proxy named.",
        around=host_kept(of_the_document=True),
    ),
)
