"""Gateways that fail on odd values of optional parameters, and on repeated values."""

from __future__ import annotations

import json
from urllib.parse import parse_qs

from gateproof.reference.defects.gateway.robustness import failing_with
from gateproof.reference.defects.gateway.row import defect
from gateproof.reference.deviations.altered_answers import Asked

_COLUMN = 255


def _parameters(asked: Asked) -> dict[str, list[str]]:
    return parse_qs(asked.query, keep_blank_values=True) if "/oauth2/auth" in asked.path else {}


def _reads_max_age_as_a_number(asked: Asked) -> None:
    for value in _parameters(asked).get("max_age", ()):
        int(value)


def _stores_the_nonce(asked: Asked) -> None:
    """A text column of Postgres takes neither a NUL nor more than its length."""
    for value in _parameters(asked).get("nonce", ()):
        if "\x00" in value or len(value) > _COLUMN:
            raise ValueError


def _parses_claims(asked: Asked) -> None:
    for value in _parameters(asked).get("claims", ()):
        json.loads(value)


def _looks_up_a_refresh_token(asked: Asked) -> None:
    if asked.path.endswith("/oauth2/token") and asked.method == "POST":
        form = parse_qs(asked.body.decode("latin-1"))
        if any("\x00" in value for value in form.get("refresh_token", ())):
            raise ValueError


def _stores_each_value(asked: Asked) -> None:
    """The values of a list are rows with a unique constraint."""
    if not asked.path.endswith("/api/register") or asked.method != "POST":
        return
    try:
        metadata = json.loads(asked.body)
    except (ValueError, RecursionError):
        return
    if isinstance(metadata, dict):
        for value in metadata.values():
            if isinstance(value, list) and all(isinstance(each, str) for each in value):
                _unique(value)


def _unique(values: list[str]) -> None:
    if len(set(values)) < len(values) < _COLUMN:
        raise ValueError


DEFECTS = (
    defect(
        "max-age-read-as-a-number (ROBUST-01): The gateway reads the optional parameter max_age without a "
        "check and answers 500 if it is no number.",
        around=failing_with(_reads_max_age_as_a_number),
    ),
    defect(
        "nonce-does-not-fit-its-column (ROBUST-01): The gateway answers 500 to a nonce with a NUL or of more "
        "than 255 characters.",
        around=failing_with(_stores_the_nonce),
    ),
    defect(
        "claims-parsed-unguarded (ROBUST-01): The gateway answers 500 if the optional parameter claims is no "
        "JSON.",
        around=failing_with(_parses_claims),
    ),
    defect(
        "refresh-token-with-a-nul-looked-up (ROBUST-01): The gateway answers 500 to a refresh token with a "
        "NUL.",
        around=failing_with(_looks_up_a_refresh_token),
    ),
    defect(
        "redirect-uri-twice-breaks-a-constraint (ROBUST-01): The gateway answers 500 to a registration that "
        "has a value twice in a list.",
        around=failing_with(_stores_each_value),
    ),
)
