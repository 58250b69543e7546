"""Gateways that give tokens for a code without the verifier or the redirect URI that belongs to it."""

from __future__ import annotations

from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Callable
from dataclasses import replace
from urllib.parse import unquote

from gateproof.reference.defects.defect import instead, without
from gateproof.reference.defects.gateway.codes import Checks, Codes, refusing
from gateproof.reference.defects.gateway.row import defect
from gateproof.reference.gateway.policies import SpendCode
from gateproof.reference.gateway.policy import code_exchange as honest
from gateproof.reference.gateway.policy.code_exchange import CODE_CHECKS, CodeFacts, CodeRefused, challenge_of
from gateproof.reference.gateway.records import Code
from gateproof.reference.outcomes import Refusal


def verifier_by(good: Callable[[str, str], bool]) -> dict[str, Checks]:
    """A verifier that is not the right one passes if it is good enough for a challenge."""

    def check(facts: CodeFacts) -> Refusal | None:
        if facts.code is not None and good(facts.verifier, facts.code.challenge):
            return None
        return honest.verifier_matches(facts)

    return {"code_checks": instead(CODE_CHECKS, honest.verifier_matches, check)}


def address_by(alike: Callable[[str, CodeFacts], bool]) -> dict[str, Checks]:
    """A redirect URI that is not the right one passes if it is like it."""

    def check(facts: CodeFacts) -> Refusal | None:
        if facts.code is not None and facts.redirect_uri and alike(facts.code.redirect_uri, facts):
            return None
        return honest.redirect_uri_is_the_same(facts)

    return {"code_checks": instead(CODE_CHECKS, honest.redirect_uri_is_the_same, check)}


def same_octets(verifier: str, challenge: str) -> bool:
    try:
        octets = urlsafe_b64decode(verifier + "=" * (-len(verifier) % 4))
    except ValueError:
        return False
    # The spare bits that a generator leaves at zero.
    return challenge_of(urlsafe_b64encode(octets).rstrip(b"=").decode()) == challenge


def begins_right(verifier: str, challenge: str) -> bool:
    return any(challenge_of(verifier[:length]) == challenge for length in range(43, len(verifier)))


def after_a_failed_try(change: Callable[[Code, CodeFacts], Code]) -> SpendCode:
    """A try that fails changes the code, and does not use it up."""

    async def spend(codes: Codes, key: str, checks: Checks, facts: CodeFacts) -> Code | CodeRefused:
        code = codes.get(key)
        outcome = await honest.spend_code(codes, key, checks, facts)
        if code is not None and not code.spent and isinstance(outcome, CodeRefused):
            codes.change(key, change(code, facts))
        return outcome

    return spend


def fields_but(*names: str) -> honest.RequestCheck:
    """The check of the fields, some of which need not be there."""

    def check(facts: honest.TokenRequestFacts) -> Refusal | None:
        given = tuple((name, value) for name, value in facts.form if value)
        filled = tuple((name, "x") for name in names if not facts.value(name))
        return honest.exchange_fields_are_given(replace(facts, form=(*given, *filled)))

    return check


def all_or_nothing(facts: honest.TokenRequestFacts) -> Refusal | None:
    bare = not facts.value("code_verifier") and not facts.value("redirect_uri")
    return None if bare and facts.value("code") else honest.exchange_fields_are_given(facts)


def where_given(check: honest.CodeCheck) -> honest.CodeCheck:
    return lambda facts: check(facts) if facts.verifier or facts.redirect_uri else None


VERIFIERS = (
    defect(
        "verifier-not-checked (CODE-04): Any verifier will do.",
        code_checks=without(CODE_CHECKS, honest.verifier_matches),
    ),
    defect(
        "challenge-is-a-verifier (CODE-04): The challenge itself passes for the verifier.",
        **verifier_by(lambda verifier, challenge: verifier == challenge),
    ),
    defect(
        "verifier-by-its-beginning (CODE-04): What follows the right verifier is not looked at.",
        **verifier_by(begins_right),
    ),
    defect(
        "verifier-by-its-octets (CODE-04): Verifiers are compared after decoding.",
        **verifier_by(same_octets),
    ),
    defect(
        "verifier-with-padding (CODE-04): Padding behind the verifier is taken off first.",
        **verifier_by(lambda verifier, challenge: challenge_of(verifier.rstrip("=")) == challenge),
    ),
    defect(
        "verifier-ends-at-a-null (CODE-04): A verifier ends at the first null character.",
        **verifier_by(lambda verifier, challenge: challenge_of(verifier.partition("\0")[0]) == challenge),
    ),
    defect(
        "wrong-verifier-is-an-invalid-request (CODE-04): A wrong verifier gets invalid_request.",
        **refusing(honest.verifier_matches, "invalid_request"),
    ),
    defect(
        "wrong-verifier-is-a-server-error (CODE-04 CODE-14 CODE-11 ROBUST-01): A wrong verifier gets status "
        "500.",
        **refusing(honest.verifier_matches, "server_error", 500),
    ),
    defect(
        "wrong-verifier-becomes-the-right-one (CODE-14): The first verifier that is tried decides about the "
        "code.",
        spend_code=after_a_failed_try(
            lambda code, facts: replace(code, challenge=challenge_of(facts.verifier))
        ),
    ),
    defect(
        "verifier-checked-once (CODE-14): After a failed try the code is good for any verifier.",
        spend_code=after_a_failed_try(lambda code, _facts: replace(code, challenge="")),
        **verifier_by(lambda _verifier, challenge: challenge == ""),
    ),
    defect(
        "verifier-optional (CODE-06): An exchange without a verifier is fine.",
        exchange_fields=fields_but("code_verifier"),
        **verifier_by(lambda verifier, _challenge: verifier == ""),
    ),
)

ADDRESSES = (
    defect(
        "exchange-for-any-address (CODE-05): The redirect URI of the exchange is not compared.",
        code_checks=without(CODE_CHECKS, honest.redirect_uri_is_the_same),
    ),
    defect(
        "exchange-for-any-registered-address (CODE-05): Any registered redirect URI passes at the exchange.",
        **address_by(lambda _used, facts: facts.redirect_uri in facts.agent.redirect_uris),
    ),
    defect(
        "exchange-address-by-prefix (CODE-05): A longer redirect URI passes at the exchange.",
        **address_by(lambda used, facts: facts.redirect_uri.startswith(used)),
    ),
    defect(
        "exchange-address-without-query (CODE-05): The query of the redirect URI does not count at the "
        "exchange.",
        **address_by(lambda used, facts: used.partition("?")[0] == facts.redirect_uri.partition("?")[0]),
    ),
    defect(
        "exchange-address-decoded (CODE-05): Percent-encoding in the redirect URI is undone before it is "
        "compared.",
        **address_by(lambda used, facts: unquote(used) == unquote(facts.redirect_uri)),
    ),
    defect(
        "exchange-address-in-any-case (CODE-05): The case of the redirect URI does not count at the "
        "exchange.",
        **address_by(lambda used, facts: used.casefold() == facts.redirect_uri.casefold()),
    ),
    defect(
        "other-address-is-an-invalid-request (CODE-05): Another redirect URI gets invalid_request.",
        **refusing(honest.redirect_uri_is_the_same, "invalid_request"),
    ),
    defect(
        "exchange-address-optional (CODE-06): An exchange without a redirect URI is fine.",
        exchange_fields=fields_but("redirect_uri"),
        code_checks=instead(
            CODE_CHECKS,
            honest.redirect_uri_is_the_same,
            lambda facts: honest.redirect_uri_is_the_same(facts) if facts.redirect_uri else None,
        ),
    ),
)

NEITHER = (
    defect(
        "exchange-without-pkce-and-address (CODE-06): An exchange that has neither a verifier nor a "
        "redirect URI is fine; with one of them it needs both.",
        exchange_fields=all_or_nothing,
        code_checks=CODE_CHECKS[:-2]
        + tuple(where_given(check) for check in (honest.redirect_uri_is_the_same, honest.verifier_matches)),
    ),
)

DEFECTS = (*VERIFIERS, *ADDRESSES, *NEITHER)
