"""Gateways that redirect to a changed copy of the redirect URI, or compare with one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from urllib.parse import parse_qsl, unquote, urlencode, urlsplit, urlunsplit

from gateproof.reference.defects.defect import instead
from gateproof.reference.defects.gateway.row import defect
from gateproof.reference.gateway.policy.authorization import code_redirect
from gateproof.reference.gateway.policy.code_exchange import (
    CODE_CHECKS,
    CodeCheck,
    CodeFacts,
    redirect_uri_is_the_same,
)
from gateproof.reference.gateway.records import AuthorizationRequest
from gateproof.reference.outcomes import Refusal

# The length of a database column.
COLUMN = 255


def query_as_a_mapping(uri: str) -> str:
    """Keeps one value for each name and drops empty values."""
    parts = urlsplit(uri)
    return urlunsplit(parts._replace(query=urlencode(dict(parse_qsl(parts.query)))))


def query_decoded(uri: str) -> str:
    parts = urlsplit(uri)
    return urlunsplit(parts._replace(query=unquote(parts.query)))


def path_decoded(uri: str) -> str:
    parts = urlsplit(uri)
    return urlunsplit(parts._replace(path=unquote(parts.path)))


def cut(uri: str) -> str:
    return uri[:COLUMN]


def answered_at(copy: Callable[[str], str]) -> Callable[[AuthorizationRequest, str, str], str]:
    """Redirects with a code to a changed copy of the redirect URI."""

    def redirect(request: AuthorizationRequest, code: str, issuer: str) -> str:
        return code_redirect(replace(request, redirect_uri=copy(request.redirect_uri)), code, issuer)

    return redirect


def compared_with(copy: Callable[[str], str]) -> tuple[CodeCheck, ...]:
    """Compares the exchange's redirect URI with a changed copy of that of the authorization request."""

    def check(facts: CodeFacts) -> Refusal | None:
        if facts.code is None:
            return redirect_uri_is_the_same(facts)
        kept = replace(facts.code, redirect_uri=copy(facts.code.redirect_uri))
        return redirect_uri_is_the_same(replace(facts, code=kept))

    return instead(CODE_CHECKS, redirect_uri_is_the_same, check)


DEFECTS = (
    defect(
        "query-of-the-redirect-uri-as-a-mapping (AUTHZ-01): The redirect keeps only one value for each name "
        "in the redirect URI's own query, and no empty values.",
        code_redirect=answered_at(query_as_a_mapping),
    ),
    defect(
        "query-of-the-redirect-uri-decoded (AUTHZ-01): The gateway percent-decodes the redirect URI's own "
        "query before it redirects.",
        code_redirect=answered_at(query_decoded),
    ),
    defect(
        "path-of-the-redirect-uri-decoded (AUTHZ-01): The gateway percent-decodes the path of the redirect "
        "URI before it redirects.",
        code_redirect=answered_at(path_decoded),
    ),
    defect(
        "redirect-uri-cut-short (AUTHZ-01): The gateway redirects to the first 255 characters of the "
        "redirect URI.",
        code_redirect=answered_at(cut),
    ),
    defect(
        "exchange-compares-a-cut-redirect-uri (CODE-01): The exchange compares its redirect URI with the "
        "first 255 characters of that of the authorization request.",
        code_checks=compared_with(cut),
    ),
    defect(
        "exchange-compares-a-decoded-redirect-uri (CODE-01): The exchange compares its redirect URI with "
        "the percent-decoded one of the authorization request.",
        code_checks=compared_with(unquote),
    ),
)
