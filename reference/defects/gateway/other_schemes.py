"""Gateways that accept the access token with a scheme other than Bearer."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable

from gateproof.reference.defects.gateway.row import defect
from gateproof.reference.gateway.policy.redemption import bearer_token

JWT_ANYWHERE = re.compile(r"eyJ[\w-]+\.[\w-]+\.[\w-]+")


def behind_any_scheme(header: str) -> str | None:
    return header.rpartition(" ")[2] or None


def behind_what_begins_with_bearer(header: str) -> str | None:
    scheme, _, token = header.partition(" ")
    return token if scheme.lower().startswith("bearer") else None


def behind_seven_characters(header: str) -> str | None:
    """`header[len("Bearer "):]`, without a check of what is removed."""
    return header[7:] or None


def without_a_scheme(header: str) -> str | None:
    return bearer_token((header,)) or (header if header.startswith("eyJ") else None)


def behind_token(header: str) -> str | None:
    scheme, _, token = header.partition(" ")
    return token if scheme in ("Token", "JWT") else bearer_token((header,))


def in_a_basic_pair(header: str) -> str | None:
    scheme, _, given = header.partition(" ")
    if scheme != "Basic":
        return bearer_token((header,))
    try:
        user, _, password = base64.b64decode(given).decode().partition(":")
    except (binascii.Error, ValueError):
        return None
    return password or user


def wherever_a_jwt_is(header: str) -> str | None:
    found = JWT_ANYWHERE.search(header)
    return found[0] if found else None


def reading(read: Callable[[str], str | None]) -> Callable[[tuple[str, ...]], str | None]:
    return lambda authorizations: read(authorizations[0]) if authorizations else None


DEFECTS = (
    defect(
        "any-scheme-redeems (REDEEM-11): The gateway ignores the scheme of the Authorization header.",
        bearer_token=reading(behind_any_scheme),
    ),
    defect(
        "whatever-begins-with-bearer-redeems (REDEEM-11): The gateway treats every scheme that begins with "
        "Bearer as Bearer.",
        bearer_token=reading(behind_what_begins_with_bearer),
    ),
    defect(
        "seven-characters-are-cut-off (REDEEM-11): The gateway removes the first seven characters of the "
        "Authorization header without comparing them.",
        bearer_token=reading(behind_seven_characters),
    ),
    defect(
        "bare-access-token-redeems (REDEEM-11): The gateway accepts an access token without a scheme in the "
        "Authorization header.",
        bearer_token=reading(without_a_scheme),
    ),
    defect(
        "scheme-token-redeems (REDEEM-11): The gateway treats the schemes Token and JWT as Bearer.",
        bearer_token=reading(behind_token),
    ),
    defect(
        "access-token-in-a-basic-pair (REDEEM-11): The gateway accepts an access token as the password or "
        "user name of HTTP Basic.",
        bearer_token=reading(in_a_basic_pair),
    ),
    defect(
        "access-token-found-by-a-pattern (REDEEM-11): The gateway searches the Authorization header for "
        "anything that looks like a JWT.",
        bearer_token=reading(wherever_a_jwt_is),
    ),
)
