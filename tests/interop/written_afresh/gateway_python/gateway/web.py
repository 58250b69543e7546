"""What all endpoints share: reading requests strictly, and answering in JSON or with a page."""

import asyncio
import json
import re
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import parse_qsl

from jinja2 import Environment, FileSystemLoader, select_autoescape
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse

MAX_BODY = 64 * 1024
MAX_FIELDS = 100
BODY_WITHIN_S = 10
NOT_STORED = {"Cache-Control": "no-store", "Pragma": "no-cache"}
PAGE_HEADERS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; frame-ancestors 'none'",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}

_templates = Environment(loader=FileSystemLoader(Path(__file__).parent / "templates"), autoescape=select_autoescape(["html"]))


class ApiError(Exception):
    """An answer other than success, in the shape that OAuth gives to errors."""

    def __init__(self, status: int, code: str, description: str, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(code)
        self.status = status
        self.code = code
        self.description = description
        self.headers = headers or {}


class BadBody(Exception):
    """A body that cannot be read as what it should be."""


def error(status: int, code: str, description: str, headers: Mapping[str, str] | None = None) -> JSONResponse:
    body = {"error": code, "error_description": description}
    return JSONResponse(body, status, {**NOT_STORED, **(headers or {})})


def page(name: str, status: int = 200, **values: object) -> HTMLResponse:
    return HTMLResponse(_templates.get_template(name).render(values), status, PAGE_HEADERS)


async def api_error(_: Request, failure: Exception) -> JSONResponse:
    assert isinstance(failure, ApiError)
    return error(failure.status, failure.code, failure.description, failure.headers)


async def http_error(_: Request, failure: Exception) -> JSONResponse:
    assert isinstance(failure, HTTPException)
    code = {404: "not_found", 405: "method_not_allowed"}.get(failure.status_code, "invalid_request")
    return error(failure.status_code, code, failure.detail, failure.headers)


async def read_body(request: Request) -> bytes:
    body = bytearray()
    try:
        async with asyncio.timeout(BODY_WITHIN_S):
            async for chunk in request.stream():
                body += chunk
                if len(body) > MAX_BODY:
                    raise ApiError(413, "invalid_request", "the body is too large", {"Connection": "close"})
    except TimeoutError:
        raise ApiError(408, "invalid_request", "the body did not come in time", {"Connection": "close"}) from None
    return bytes(body)


def media_type(request: Request) -> str:
    return request.headers.get("content-type", "").split(";")[0].strip().lower()


async def read_json(request: Request) -> dict[str, object]:
    """The object that the body consists of. Anything that two readers could understand differently is refused."""
    body = await read_body(request)
    if media_type(request) != "application/json":
        raise BadBody("Content-Type must be application/json")
    try:
        value = json.loads(body.decode(), object_pairs_hook=_without_repetition, parse_constant=_no_constant)
        json.dumps(value, ensure_ascii=False).encode()  # lone surrogates cannot be stored
    except (ValueError, RecursionError):
        raise BadBody("the body is not valid JSON") from None
    if not isinstance(value, dict):
        raise BadBody("the body must be a JSON object")
    return value


def _without_repetition(pairs: list[tuple[str, object]]) -> dict[str, object]:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise ValueError("a member is repeated")
    return members


def _no_constant(name: str) -> object:
    raise ValueError(f"{name} is not JSON")


async def read_form(request: Request) -> dict[str, str]:
    body = await read_body(request)
    if media_type(request) != "application/x-www-form-urlencoded":
        raise BadBody("Content-Type must be application/x-www-form-urlencoded")
    try:
        pairs = parse_qsl(body.decode(), keep_blank_values=True, max_num_fields=MAX_FIELDS, errors="strict")
    except ValueError:
        raise BadBody("the body is not a valid form") from None
    fields = dict(pairs)
    if len(fields) != len(pairs):
        raise BadBody("a parameter is repeated")
    return fields


def read_query(request: Request) -> list[tuple[str, str]]:
    """The parameters of the URL. Octets that are not UTF-8 are kept as surrogates."""
    query = request.scope["query_string"].decode("latin-1")
    try:
        return parse_qsl(query, keep_blank_values=True, max_num_fields=MAX_FIELDS, errors="surrogateescape")
    except ValueError:
        raise ApiError(400, "invalid_request", "there are too many parameters") from None


def bearer_token(value: str) -> str | None:
    match = re.fullmatch(r"bearer +([A-Za-z0-9._~+/-]+=*)", value, re.IGNORECASE)
    return match.group(1) if match else None


def single_header(request: Request, name: str) -> str | None:
    """A header's value; None if it is missing, empty or repeated."""
    values = request.headers.getlist(name)
    return values[0].strip() or None if len(values) == 1 else None
