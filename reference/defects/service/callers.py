"""Services that bind a token to its first sender, or trust headers that describe the caller."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import urlsplit

from gateproof.reference.defects.service.mcp import method_of
from gateproof.reference.defects.service.mcp_operations import json_rpc_result
from gateproof.reference.defects.service.other_routes import open_route
from gateproof.reference.defects.service.row import defect, mcp_defect
from gateproof.reference.deviations.altered_answers import Answered, altering_answers
from gateproof.reference.deviations.altered_answers import Asked as AskedFor
from gateproof.reference.service.backend import Backend
from gateproof.reference.service.mcp import TOOL
from gateproof.reference.service.policy import validation
from gateproof.reference.service.wire import Asked

NEXT = "2026-07-28"


def bound_to(*names: str) -> Callable[[Asked], str | None]:
    """`fingerprint(request)`: a token with other headers than at its first use is refused."""
    seen: dict[str, list[list[str]]] = {}

    def presented(asked: Asked) -> str | None:
        token = validation.presented_token(asked)
        said = [asked.headers_named(name) for name in names]
        return token if token is None or seen.setdefault(token, said) == said else None

    return presented


def open_where(name: str, is_open: Callable[[str], bool]) -> Any:
    """A request without a token, but with this header, gets the last orders."""
    return open_route(lambda asked: is_open(asked.headers.get(name, "")))


def host_kept(*, of_the_document: bool) -> Any:
    """The last X-Forwarded-Host replaces the service's host in answers to requests without this header."""
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

    return altering_answers(change)


def next_version_unguarded(asked: AskedFor, answered: Answered, _backend: Backend) -> Answered:
    """The newest version of MCP has its own route, which the token check does not cover."""
    newest = asked.headers.get("mcp-protocol-version") == NEXT and "mcp-method" in asked.headers
    if answered.status == 401 and newest and method_of(asked) == "tools/list":
        return json_rpc_result(asked, {"tools": [TOOL]})
    return answered


DEFECTS = (
    defect(
        "token-of-the-program-that-brought-it (SERVE-01): The service accepts a token only with the "
        "User-Agent of its first use.",
        presented_token=bound_to("user-agent"),
    ),
    defect(
        "token-of-a-fingerprint (SERVE-01): The service accepts a token only with the X-Forwarded-For and "
        "Accept-Language of its first use.",
        presented_token=bound_to("x-forwarded-for", "accept-language"),
    ),
    defect(
        "local-callers-trusted (CHAL-01): The service requires no token if X-Forwarded-For is 127.0.0.1.",
        around=open_where("x-forwarded-for", lambda value: value == "127.0.0.1"),
    ),
    defect(
        "user-of-a-proxy-trusted (CHAL-01): The service requires no token if X-Remote-User names a user, as "
        "if a proxy had authenticated this user.",
        around=open_where("x-remote-user", bool),
    ),
    defect(
        "guard-left-out-for-subrequests (CHAL-01): The service requires no token if X-Middleware-Subrequest "
        "says that its own middleware sent the request.",
        around=open_where("x-middleware-subrequest", lambda value: value.count("middleware") >= 5),
    ),
    defect(
        "first-version-of-an-api-unguarded (CHAL-01): The token check covers version 2 of the API only; a "
        "request with Accept-Version 1 needs no token.",
        around=open_where("accept-version", lambda value: value == "1"),
    ),
    mcp_defect(
        "mcp-health-checks-unguarded (CHAL-01): The service requires no token if the User-Agent is that of a "
        "load balancer's health check.",
        around=open_route(
            lambda asked: asked.headers.get("user-agent", "").startswith("ELB-HealthChecker"),
            lambda asked: asked.path == "/mcp" and method_of(asked) == "tools/call",
        ),
    ),
    mcp_defect(
        "newest-version-of-mcp-unguarded (CHAL-10): With the newest version of MCP, tools/list needs no "
        "token.",
        around=altering_answers(next_version_unguarded),
    ),
    defect(
        "pointer-to-the-last-forwarded-host (CHAL-02): The challenge contains the host of the last "
        "X-Forwarded-Host, even of another caller.",
        around=host_kept(of_the_document=False),
    ),
    defect(
        "document-of-the-last-forwarded-host (META-04): The metadata document contains the host of the last "
        "X-Forwarded-Host, even of another caller.",
        around=host_kept(of_the_document=True),
    ),
)
