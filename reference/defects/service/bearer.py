"""Services that look for tokens in the wrong place, or say no in the wrong way."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Callable
from urllib.parse import parse_qs

from gateproof.reference.defects.service.metadata import telling
from gateproof.reference.defects.service.row import defect, mcp_defect
from gateproof.reference.service.policy import validation
from gateproof.reference.service.wire import Asked

Presented = Callable[[Asked], str | None]
EVERY_BAD_ONE = "CHAL-03 CHAL-04 CHAL-05 CHAL-06 CHAL-07 CHAL-08"


def or_else(other: Presented) -> dict[str, Presented]:
    """Where no Bearer token is found, it is looked for elsewhere."""
    return {"presented_token": lambda asked: validation.presented_token(asked) or other(asked)}


def header_by(pattern: str) -> dict[str, Presented]:
    """The Authorization header is taken apart in another way."""
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
    """A member of the JSON object that an operation is sent."""

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
    """RFC 6750 section 2.2, which some frameworks have switched on."""

    def presented(asked: Asked) -> str | None:
        kinds = asked.headers_named("content-type")
        if "application/x-www-form-urlencoded" not in kinds:
            return None
        return next(iter(parse_qs(asked.body.decode("latin-1")).get(field, [])), None)

    return presented


def in_a_cookie_called(name: str, before: str = "") -> Presented:
    """A cookie of the service's own naming; some write the scheme into it, in quotes because of the space."""
    expression = re.compile(rf'(?:^|; ){name}="?{before}([\w.-]+)"?(?:;|$)')

    def presented(asked: Asked) -> str | None:
        found = expression.search("; ".join(asked.headers_named("cookie")))
        return found[1] if found else None

    return presented


def in_a_header_called(name: str) -> Presented:
    return lambda asked: next(iter(asked.headers_named(name)), None)


def in_the_message(member: str) -> Presented:
    """Over MCP, in the parameters of a request: among the tool's arguments, or beside them."""

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
    """Basic with the token for a user name or a password, as some registries of packages want it."""

    def presented(asked: Asked) -> str | None:
        for value in asked.headers_named("authorization"):
            scheme, _, encoded = value.partition(" ")
            if scheme.lower() == "basic":
                return base64.b64decode(encoded).decode("latin-1").partition(":")[place]
        return None

    return presented


DEFECTS = (
    defect("scheme-not-needed (CHAL-03): A token without a scheme is taken.", **header_by(r"(\S+)$")),
    defect(
        "any-scheme-will-do (CHAL-03): The second word of Authorization is the token, whatever the first.",
        **header_by(r"^\S+ +([^\s\"=]+)$"),
    ),
    defect(
        "scheme-by-its-beginning (CHAL-03): A scheme that begins with Bearer is taken for Bearer.",
        **header_by(r"^bearer\S* +([^\s\"=]+)$"),
    ),
    defect(
        "scheme-by-its-end (CHAL-03): A scheme that ends in Bearer is taken for Bearer.",
        **header_by(r"^\S*bearer +([^\s\"=]+)$"),
    ),
    defect(
        "bearer-behind-another-scheme (CHAL-03): What stands behind the word Bearer is taken, whatever "
        "stands before that.",
        **header_by(r"(?:^|[^\s,] )bearer +([^\s\"=]+)$"),
    ),
    defect(
        "one-of-several-schemes (CHAL-03): Authorization is read as a list, and its element with Bearer is "
        "taken.",
        **header_by(r"(?:^|, )bearer +([^\s\"=]+)$"),
    ),
    defect(
        "dpop-taken-for-bearer (CHAL-03): DPoP is taken for another name of Bearer, and no proof is asked "
        "for.",
        **header_by(r"^(?:bearer|dpop) +([^\s\"=]+)$"),
    ),
    defect(
        "space-behind-the-scheme-not-needed (CHAL-03): Between Bearer and the token there may be nothing.",
        **header_by(r"^bearer *([^\s\"=]+)$"),
    ),
    defect(
        "colon-behind-the-scheme (CHAL-03): A colon may stand behind Bearer.",
        **header_by(r"^bearer(?: +|: *)([^\s\"=]+)$"),
    ),
    defect(
        "last-word-is-the-token (CHAL-03): Of several words behind Bearer the last one is taken.",
        **header_by(r"^bearer .*?([^\s\"=]+)$"),
    ),
    defect(
        "quotes-stripped (CHAL-03): A token in quotes is taken.",
        **header_by(r"^bearer +\"?([^\s\"=]+)\"?$"),
    ),
    defect("token-in-the-query (CHAL-03): A token in the query is taken.", **or_else(in_the_query)),
    defect(
        "token-in-the-query-by-another-name (CHAL-03): A token in the query is taken, under jwt.",
        **or_else(in_the_query_by_another_name),
    ),
    defect("token-in-a-form (CHAL-03): A token in a form is taken.", **or_else(in_a_form("access_token"))),
    defect("token-as-a-key (CHAL-03): A bare token in X-Api-Key is taken.", **or_else(as_a_key)),
    defect(
        "token-as-a-user-name (CHAL-03): A token is taken as the user name of Basic.",
        **or_else(in_basic(0)),
    ),
    defect("token-in-a-cookie (CHAL-03): A token in a cookie is taken.", **or_else(in_a_cookie)),
    defect(
        "token-in-the-session-cookie (CHAL-03): A token in a cookie called session is taken.",
        **or_else(in_a_cookie_called("session")),
    ),
    defect(
        "token-in-a-cookie-with-its-scheme (CHAL-03): A token in a cookie is taken, with Bearer before it.",
        **or_else(in_a_cookie_called("access_token", "Bearer ")),
    ),
    defect(
        "token-in-a-header-of-its-own-name (CHAL-03): A bare token in a header called Token is taken.",
        **or_else(in_a_header_called("token")),
    ),
    defect(
        "token-of-a-proxy-in-front (CHAL-03): A token in X-Forwarded-Access-Token is taken, whoever sends "
        "it.",
        **or_else(in_a_header_called("x-forwarded-access-token")),
    ),
    mcp_defect(
        "token-in-the-meta (CHAL-03): A token in the _meta of a tool call is taken.",
        **or_else(in_the_message("_meta")),
    ),
    mcp_defect(
        "token-in-the-arguments (CHAL-03): A token among the arguments of a tool is taken.",
        **or_else(in_the_message("arguments")),
    ),
    defect(
        "token-in-the-body (CHAL-03): A token in the body is taken.",
        **or_else(in_the_body("access_token")),
    ),
    defect(
        "token-in-the-body-by-another-name (CHAL-03): A token in the body is taken, under accessToken.",
        **or_else(in_the_body("accessToken")),
    ),
    defect(
        "token-in-a-form-by-another-name (CHAL-03): A token in a form is taken, under token.",
        **or_else(in_a_form("token")),
    ),
    defect(
        "token-in-another-header (CHAL-03): A token in X-Access-Token is taken.",
        **or_else(in_another_header),
    ),
    defect(
        "token-as-a-password (CHAL-03): A token is taken as the password of Basic.",
        **or_else(in_basic(2)),
    ),
    defect(
        f"bad-tokens-are-bad-requests ({EVERY_BAD_ONE}): What is no good token gets 400.",
        answer_of=telling({"not accepted"}, 400),
    ),
    defect(
        f"bad-tokens-are-forbidden ({EVERY_BAD_ONE}): What is no good token gets 403.",
        answer_of=telling({"not accepted"}, 403),
    ),
    defect(
        f"challenge-for-newcomers-alone ({EVERY_BAD_ONE}): Only who sends no token is told where the "
        f"metadata are.",
        challenged=lambda _reply, outcome: outcome.kind == "no token",
    ),
)
