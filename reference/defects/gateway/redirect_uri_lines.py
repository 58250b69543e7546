"""Gateways that check only one line of a redirect URI, or check redirect URIs only in an array."""

from __future__ import annotations

import re
from dataclasses import replace

from gateproof.reference.defects.defect import instead
from gateproof.reference.defects.gateway.registration import with_https_test
from gateproof.reference.defects.gateway.row import defect
from gateproof.reference.defects.gateway.similar_redirect_uris import accepted_if_alike
from gateproof.reference.gateway.policy.authorization import (
    PAGE_CHECKS,
    code_redirect,
    redirect_uri_is_registered,
)
from gateproof.reference.gateway.policy.registration import (
    REGISTRATION_CHECKS,
    NewAgent,
    RegistrationCheck,
    RegistrationFacts,
    new_agent,
    redirect_uris_are_given,
    redirect_uris_are_https,
    redirect_uris_have_no_fragment,
)
from gateproof.reference.gateway.records import AuthorizationRequest
from gateproof.reference.ids import Ids

ABOUT_URIS = (redirect_uris_are_given, redirect_uris_are_https, redirect_uris_have_no_fragment)


def of_arrays(check: RegistrationCheck) -> RegistrationCheck:
    return lambda facts: None if isinstance(facts.value("redirect_uris"), str) else check(facts)


def wrapped(facts: RegistrationFacts, ids: Ids, now: float) -> NewAgent:
    given = facts.value("redirect_uris")
    uris = [given] if isinstance(given, str) else given
    return new_agent(replace(facts, metadata=facts.metadata | {"redirect_uris": uris}), ids, now)


def on_one_line(request: AuthorizationRequest, code: str, issuer: str) -> str:
    """A header cannot contain line ends, so those in the URI are removed."""
    return code_redirect(request, code, issuer).replace("\n", "")


DEFECTS = (
    defect(
        "https-on-any-line (REG-06): The gateway accepts a redirect URI of several lines if any line is an "
        "HTTPS URI.",
        registration_checks=with_https_test(lambda uri: re.search(r"(?m)^https://\S+$", uri) is not None),
    ),
    defect(
        "redirect-uri-in-no-array (REG-06): The gateway registers a redirect_uris that is a string instead "
        "of an array, without checking it.",
        registration_checks=tuple(
            of_arrays(check) if check in ABOUT_URIS else check for check in REGISTRATION_CHECKS
        ),
        new_agent=wrapped,
    ),
    defect(
        "redirect-on-any-line (AUTHZ-06): The gateway accepts a redirect URI of several lines if any line "
        "is a registered redirect URI.",
        page_checks=instead(
            PAGE_CHECKS,
            redirect_uri_is_registered,
            accepted_if_alike(lambda given, uri: uri in given.split("\n")),
        ),
        code_redirect=on_one_line,
    ),
)
