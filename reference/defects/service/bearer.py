"""Services that accept tokens in wrong places or formats, or refuse bad tokens in a wrong way."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Callable
from urllib.parse import parse_qs

from gateproof.reference.defects.service.metadata import with_status
from gateproof.reference.defects.service.row import defect, mcp_defect
from gateproof.reference.service.policy import validation
from gateproof.reference.service.wire import Asked

Presented = Callable[[Asked], str | None]
REFUSAL_RULES = "CHAL-03 CHAL-04 CHAL-05 CHAL-06 CHAL-07 CHAL-08"


def or_from(other: Presented) -> dict[str, Presented]:
    """If Authorization has no Bearer token, the token is taken from another place."""
    return {"presented_token": lambda asked: validation.presented_token(asked) or other(asked)}


def header_by(pattern: str) -> dict[str, Presented]:
    """The Authorization header is parsed with this pattern."""
    expression = re.compile(pattern, re.IGNORECASE)

    def presented(asked: Asked) -> str | None:
        found = next(filter(None, map(expression.search, asked.headers_named("authorization"))), None)
        return found[1] if found else None

    return {"presented_token": presented}


def in_the_query(asked: Asked) -> str | None:
    return next(iter(parse_qs(asked.query).get("access_token", [])), None)


def in_a_cookie(asked: Asked) -> str | None:
    found = re.search(r"access_token=([^;]+)", "; ".join(asked.headers_named("cookie")))
    return found[1] if found else None


def in_the_body(member: str) -> Presented:
    """A member of the JSON object in the request body."""

    def presented(asked: Asked) -> str | None:
        try:
            document = json.loads(asked.body)
        except ValueError:
            return None
        token = document.get(member) if isinstance(document, dict) else None
        return token if isinstance(token, str) else None

    return presented


def in_the_query_by_another_name(asked: Asked) -> str | None:
    return next(iter(parse_qs(asked.query).get("jwt", [])), None)


def in_a_form(field: str) -> Presented:
    """The form field of RFC 6750 section 2.2, which some frameworks enable."""

    def presented(asked: Asked) -> str | None:
        kinds = asked.headers_named("content-type")
        if "application/x-www-form-urlencoded" not in kinds:
            return None
        return next(iter(parse_qs(asked.body.decode("latin-1")).get(field, [])), None)

    return presented


def in_a_cookie_called(name: str, before: str = "") -> Presented:
    """A cookie with this name; the token follows `before`, and quotes around both are ignored."""
    expression = re.compile(rf'(?:^|; ){name}="?{before}([\w.-]+)"?(?:;|$)')

    def presented(asked: Asked) -> str | None:
        found = expression.search("; ".join(asked.headers_named("cookie")))
        return found[1] if found else None

    return presented


def in_a_header_called(name: str) -> Presented:
    return lambda asked: next(iter(asked.headers_named(name)), None)


def in_the_message(member: str) -> Presented:
    """A member of the parameters of an MCP request: the tool's arguments or `_meta`."""

    def presented(asked: Asked) -> str | None:
        try:
            token = json.loads(asked.body)["params"][member]["access_token"]
        except (ValueError, KeyError, TypeError):
            return None
        return token if isinstance(token, str) else None

    return presented


def as_a_key(asked: Asked) -> str | None:
    return next((value for value in asked.headers_named("x-api-key") if " " not in value), None)


def in_another_header(asked: Asked) -> str | None:
    return next((value.removeprefix("Bearer ") for value in asked.headers_named("x-access-token")), None)


def in_basic(place: int) -> Presented:
    """The user name or the password of Basic credentials, as some package registries expect it."""

    def presented(asked: Asked) -> str | None:
        for value in asked.headers_named("authorization"):
            scheme, _, encoded = value.partition(" ")
            if scheme.lower() == "basic":
                return base64.b64decode(encoded).decode("latin-1").partition(":")[place]
        return None

    return presented


DEFECTS = (
    defect(
        "scheme-not-needed (CHAL-03): The service uses the last word of Authorization as the token, with or "
        "without a scheme.",
        **header_by(r"(\S+)$"),
    ),
    defect(
        "any-scheme-will-do (CHAL-03): The service uses the second word of Authorization as the token, "
        "whatever the scheme is.",
        **header_by(r"^\S+ +([^\s\"=]+)$"),
    ),
    defect(
        "scheme-by-its-beginning (CHAL-03): The service accepts any scheme that begins with Bearer.",
        **header_by(r"^bearer\S* +([^\s\"=]+)$"),
    ),
    defect(
        "scheme-by-its-end (CHAL-03): The service accepts any scheme that ends with Bearer.",
        **header_by(r"^\S*bearer +([^\s\"=]+)$"),
    ),
    defect(
        "bearer-behind-another-scheme (CHAL-03): The service accepts the token after the word Bearer, even "
        "if another scheme precedes it.",
        **header_by(r"(?:^|[^\s,] )bearer +([^\s\"=]+)$"),
    ),
    defect(
        "one-of-several-schemes (CHAL-03): The service reads Authorization as a comma-separated list and "
        "accepts its Bearer element.",
        **header_by(r"(?:^|, )bearer +([^\s\"=]+)$"),
    ),
    defect(
        "dpop-taken-for-bearer (CHAL-03): The service accepts the scheme DPoP like Bearer and requires no "
        "proof.",
        **header_by(r"^(?:bearer|dpop) +([^\s\"=]+)$"),
    ),
    defect(
        "space-behind-the-scheme-not-needed (CHAL-03): The service accepts Bearer without a space before the "
        "token.",
        **header_by(r"^bearer *([^\s\"=]+)$"),
    ),
    defect(
        "colon-behind-the-scheme (CHAL-03): The service accepts a colon after Bearer.",
        **header_by(r"^bearer(?: +|: *)([^\s\"=]+)$"),
    ),
    defect(
        "last-word-is-the-token (CHAL-03): The service accepts several words after Bearer and uses the last "
        "one as the token.",
        **header_by(r"^bearer .*?([^\s\"=]+)$"),
    ),
    defect(
        "quotes-stripped (CHAL-03): The service accepts a token in double quotes.",
        **header_by(r"^bearer +\"?([^\s\"=]+)\"?$"),
    ),
    defect(
        "token-in-the-query (CHAL-03): The service accepts a token in the query parameter access_token.",
        **or_from(in_the_query),
    ),
    defect(
        "token-in-the-query-by-another-name (CHAL-03): The service accepts a token in the query parameter "
        "jwt.",
        **or_from(in_the_query_by_another_name),
    ),
    defect(
        "token-in-a-form (CHAL-03): The service accepts a token in the form field access_token.",
        **or_from(in_a_form("access_token")),
    ),
    defect(
        "token-as-a-key (CHAL-03): The service accepts a token without a scheme in X-Api-Key.",
        **or_from(as_a_key),
    ),
    defect(
        "token-as-a-user-name (CHAL-03): The service accepts a token as the user name of Basic credentials.",
        **or_from(in_basic(0)),
    ),
    defect(
        "token-in-a-cookie (CHAL-03): The service accepts a token in the cookie access_token.",
        **or_from(in_a_cookie),
    ),
    defect(
        "token-in-the-session-cookie (CHAL-03): The service accepts a token in the cookie session.",
        **or_from(in_a_cookie_called("session")),
    ),
    defect(
        "token-in-a-cookie-with-its-scheme (CHAL-03): The service accepts a token with the scheme Bearer in "
        "the cookie access_token.",
        **or_from(in_a_cookie_called("access_token", "Bearer ")),
    ),
    defect(
        "token-in-a-header-of-its-own-name (CHAL-03): The service accepts a token without a scheme in the "
        "header Token.",
        **or_from(in_a_header_called("token")),
    ),
    defect(
        "token-of-a-proxy-in-front (CHAL-03): The service accepts a token in X-Forwarded-Access-Token from "
        "any sender.",
        **or_from(in_a_header_called("x-forwarded-access-token")),
    ),
    mcp_defect(
        "token-in-the-meta (CHAL-03): The service accepts a token in the _meta of a tool call.",
        **or_from(in_the_message("_meta")),
    ),
    mcp_defect(
        "token-in-the-arguments (CHAL-03): The service accepts a token in the arguments of a tool call.",
        **or_from(in_the_message("arguments")),
    ),
    defect(
        "token-in-the-body (CHAL-03): The service accepts a token in the member access_token of the body.",
        **or_from(in_the_body("access_token")),
    ),
    defect(
        "token-in-the-body-by-another-name (CHAL-03): The service accepts a token in the member accessToken "
        "of the body.",
        **or_from(in_the_body("accessToken")),
    ),
    defect(
        "token-in-a-form-by-another-name (CHAL-03): The service accepts a token in the form field token.",
        **or_from(in_a_form("token")),
    ),
    defect(
        "token-in-another-header (CHAL-03): The service accepts a token in X-Access-Token.",
        **or_from(in_another_header),
    ),
    defect(
        "token-as-a-password (CHAL-03): The service accepts a token as the password of Basic credentials.",
        **or_from(in_basic(2)),
    ),
    defect(
        f"bad-tokens-are-bad-requests ({REFUSAL_RULES}): The service answers 400 to a bad token.",
        answer_of=with_status({"not accepted"}, 400),
    ),
    defect(
        f"bad-tokens-are-forbidden ({REFUSAL_RULES}): The service answers 403 to a bad token.",
        answer_of=with_status({"not accepted"}, 403),
    ),
    defect(
        f"challenge-for-newcomers-alone ({REFUSAL_RULES}): The service sends the challenge only to a request "
        f"without a token, not to one with a bad token.",
        challenged=lambda _reply, outcome: outcome.kind == "no token",
    ),
)
