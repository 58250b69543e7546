"""Gateways that relax the check of redirect URIs if a registration asks for it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from urllib.parse import urlsplit

from gateproof.reference.defects.defect import instead
from gateproof.reference.defects.gateway.row import defect
from gateproof.reference.gateway.policy.registration import (
    REGISTRATION_CHECKS,
    NewAgent,
    RegistrationCheck,
    RegistrationFacts,
    new_agent,
    redirect_uris_are_https,
)
from gateproof.reference.ids import Ids
from gateproof.reference.outcomes import Refusal

LOOPBACK = ("localhost", "127.0.0.1", "::1")


def native(facts: RegistrationFacts) -> bool:
    said: object = facts.value("application_type")
    return said == "native"


def a_public_client(facts: RegistrationFacts) -> bool:
    return facts.value("public_client") is True or facts.value("client_type") == "public"


def under_development(facts: RegistrationFacts) -> bool:
    return facts.value("environment") == "development" or facts.value("test") is True


def without_https(facts: RegistrationFacts) -> bool:
    return facts.value("require_https") is False


def on_loopback(uri: str) -> bool:
    parts = urlsplit(uri)
    return parts.scheme == "http" and parts.hostname in LOOPBACK


def of_a_scheme_of_its_own(uri: str) -> bool:
    return urlsplit(uri).scheme not in ("", "http", "https", "javascript", "data")


def https_unless(
    says_so: Callable[[RegistrationFacts], bool], allowed: Callable[[str], bool]
) -> tuple[RegistrationCheck, ...]:
    """The correct checks, except for `allowed` URIs in a registration that `says_so`."""

    def check(facts: RegistrationFacts) -> Refusal | None:
        uris = facts.value("redirect_uris")
        kept = [uri for uri in uris if not (says_so(facts) and allowed(uri))]
        return redirect_uris_are_https(replace(facts, metadata={"redirect_uris": kept}))

    return instead(REGISTRATION_CHECKS, redirect_uris_are_https, check)


def with_the_single_one(facts: RegistrationFacts, ids: Ids, now: float) -> NewAgent:
    """Adds the single redirect_uri without checking it."""
    new, single = new_agent(facts, ids, now), facts.value("redirect_uri")
    if not isinstance(single, str):
        return new
    return replace(new, agent=replace(new.agent, redirect_uris=(*new.agent.redirect_uris, single)))


DEFECTS = (
    defect(
        "native-agents-on-loopback (REG-06): The gateway accepts http on loopback if application_type is "
        "native.",
        registration_checks=https_unless(native, on_loopback),
    ),
    defect(
        "native-agents-with-schemes-of-their-own (REG-06): The gateway accepts a custom URI scheme if "
        "application_type is native.",
        registration_checks=https_unless(native, of_a_scheme_of_its_own),
    ),
    defect(
        "public-clients-on-loopback (REG-06): The gateway accepts http on loopback from an agent that "
        "registers as a public client.",
        registration_checks=https_unless(a_public_client, on_loopback),
    ),
    defect(
        "any-redirect-uri-for-a-test (REG-06): The gateway does not check the redirect URIs of an agent that "
        "registers as a test or for development.",
        registration_checks=https_unless(under_development, lambda _uri: True),
    ),
    defect(
        "https-waived-on-request (REG-06): The gateway does not check redirect URIs if the registration has "
        "require_https set to false.",
        registration_checks=https_unless(without_https, lambda _uri: True),
    ),
    defect(
        "single-redirect-uri-not-looked-at (REG-06): The gateway adds the member redirect_uri to "
        "redirect_uris without checking it.",
        new_agent=with_the_single_one,
    ),
)
