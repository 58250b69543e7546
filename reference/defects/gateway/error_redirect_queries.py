"""Gateways whose error redirects spoil the query of the redirect URI."""

from __future__ import annotations

from urllib.parse import urlencode

from gateproof.reference.defects.gateway.row import defect


def _query(error: str, description: str, state: str, issuer: str) -> str:
    stated = {"state": state} if state else {}
    return urlencode({"error": error, "error_description": description, "iss": issuer, **stated})


def behind_a_second_question_mark(uri: str, error: str, description: str, state: str, issuer: str) -> str:
    return f"{uri}?{_query(error, description, state, issuer)}"


def in_place_of_the_query(uri: str, error: str, description: str, state: str, issuer: str) -> str:
    return f"{uri.partition('?')[0]}?{_query(error, description, state, issuer)}"


DEFECTS = (
    defect(
        "error-behind-a-second-question-mark (AUTHZ-24): An error redirect appends a question mark and its "
        "parameters to the redirect URI, also if that has a query.",
        error_redirect=behind_a_second_question_mark,
    ),
    defect(
        "error-in-place-of-the-query (AUTHZ-24): An error redirect replaces the query of the redirect URI.",
        error_redirect=in_place_of_the_query,
    ),
)
