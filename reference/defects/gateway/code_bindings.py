"""Gateways that issue tokens for a code without the right verifier or redirect URI, or with a wrong error."""

from __future__ import annotations

from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Callable
from dataclasses import replace
from urllib.parse import unquote

from gateproof.reference.defects.defect import instead, without
from gateproof.reference.defects.gateway.codes import Checks, Codes, refusing_with
from gateproof.reference.defects.gateway.row import defect
from gateproof.reference.gateway.policies import SpendCode
from gateproof.reference.gateway.policy import code_exchange as honest
from gateproof.reference.gateway.policy.code_exchange import CODE_CHECKS, CodeFacts, CodeRefused, challenge_of
from gateproof.reference.gateway.records import Code
from gateproof.reference.outcomes import Refusal


def verifier_accepted_if(good: Callable[[str, str], bool]) -> dict[str, Checks]:
    """A wrong verifier passes if `good` is true for it and the challenge."""

    def check(facts: CodeFacts) -> Refusal | None:
        if facts.code is not None and good(facts.verifier, facts.code.challenge):
            return None
        return honest.verifier_matches(facts)

    return {"code_checks": instead(CODE_CHECKS, honest.verifier_matches, check)}


def address_by(alike: Callable[[str, CodeFacts], bool]) -> dict[str, Checks]:
    """A different redirect URI passes if `alike` is true."""

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
    # Encoding again sets the unused bits of the last character to zero, as generators do.
    return challenge_of(urlsafe_b64encode(octets).rstrip(b"=").decode()) == challenge


def begins_right(verifier: str, challenge: str) -> bool:
    return any(challenge_of(verifier[:length]) == challenge for length in range(43, len(verifier)))


def after_a_failed_try(change: Callable[[Code, CodeFacts], Code]) -> SpendCode:
    """A failed exchange changes the code instead of spending it."""

    async def spend(codes: Codes, key: str, checks: Checks, facts: CodeFacts) -> Code | CodeRefused:
        code = codes.get(key)
        outcome = await honest.spend_code(codes, key, checks, facts)
        if code is not None and not code.spent and isinstance(outcome, CodeRefused):
            codes.change(key, change(code, facts))
        return outcome

    return spend


def fields_except(*names: str) -> honest.RequestCheck:
    """The check for missing fields, with `names` optional."""

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
        "verifier-not-checked (CODE-04): The gateway accepts any verifier.",
        code_checks=without(CODE_CHECKS, honest.verifier_matches),
    ),
    defect(
        "challenge-is-a-verifier (CODE-04): The gateway accepts the challenge itself as the verifier.",
        **verifier_accepted_if(lambda verifier, challenge: verifier == challenge),
    ),
    defect(
        "verifier-by-its-beginning (CODE-04): The gateway accepts the right verifier followed by other "
        "characters.",
        **verifier_accepted_if(begins_right),
    ),
    defect(
        "verifier-by-its-octets (CODE-04): The gateway compares verifiers after base64url decoding.",
        **verifier_accepted_if(same_octets),
    ),
    defect(
        "verifier-with-padding (CODE-04): The gateway removes base64 padding at the end of the verifier.",
        **verifier_accepted_if(lambda verifier, challenge: challenge_of(verifier.rstrip("=")) == challenge),
    ),
    defect(
        "verifier-ends-at-a-null (CODE-04): The gateway reads the verifier only up to the first null "
        "character.",
        **verifier_accepted_if(
            lambda verifier, challenge: challenge_of(verifier.partition("\0")[0]) == challenge
        ),
    ),
    defect(
        "wrong-verifier-is-an-invalid-request (CODE-04): A wrong verifier gets invalid_request instead of "
        "invalid_grant.",
        **refusing_with(honest.verifier_matches, "invalid_request"),
    ),
    defect(
        "wrong-verifier-is-a-server-error (CODE-04 CODE-14 CODE-11 ROBUST-01): A wrong verifier gets status "
        "500.",
        **refusing_with(honest.verifier_matches, "server_error", 500),
    ),
    defect(
        "wrong-verifier-becomes-the-right-one (CODE-14): After an exchange with a wrong verifier, the code "
        "requires that wrong verifier.",
        spend_code=after_a_failed_try(
            lambda code, facts: replace(code, challenge=challenge_of(facts.verifier))
        ),
    ),
    defect(
        "verifier-checked-once (CODE-14): After one failed exchange, the gateway accepts any verifier for "
        "the code.",
        spend_code=after_a_failed_try(lambda code, _facts: replace(code, challenge="")),
        **verifier_accepted_if(lambda _verifier, challenge: challenge == ""),
    ),
    defect(
        "verifier-optional (CODE-06): The gateway accepts an exchange without a verifier.",
        exchange_fields=fields_except("code_verifier"),
        **verifier_accepted_if(lambda verifier, _challenge: verifier == ""),
    ),
)

ADDRESSES = (
    defect(
        "exchange-for-any-address (CODE-05): The gateway does not compare the redirect URI of the exchange.",
        code_checks=without(CODE_CHECKS, honest.redirect_uri_is_the_same),
    ),
    defect(
        "exchange-for-any-registered-address (CODE-05): The gateway accepts any registered redirect URI at "
        "the exchange.",
        **address_by(lambda _used, facts: facts.redirect_uri in facts.agent.redirect_uris),
    ),
    defect(
        "exchange-address-by-prefix (CODE-05): The gateway accepts a redirect URI at the exchange that "
        "begins with the right one.",
        **address_by(lambda used, facts: facts.redirect_uri.startswith(used)),
    ),
    defect(
        "exchange-address-without-query (CODE-05): The gateway ignores the query of the redirect URI at the "
        "exchange.",
        **address_by(lambda used, facts: used.partition("?")[0] == facts.redirect_uri.partition("?")[0]),
    ),
    defect(
        "exchange-address-decoded (CODE-05): The gateway percent-decodes the redirect URI before it compares "
        "it.",
        **address_by(lambda used, facts: unquote(used) == unquote(facts.redirect_uri)),
    ),
    defect(
        "exchange-address-in-any-case (CODE-05): The gateway compares the redirect URI of the exchange "
        "case-insensitively.",
        **address_by(lambda used, facts: used.casefold() == facts.redirect_uri.casefold()),
    ),
    defect(
        "other-address-is-an-invalid-request (CODE-05): A different redirect URI gets invalid_request "
        "instead of invalid_grant.",
        **refusing_with(honest.redirect_uri_is_the_same, "invalid_request"),
    ),
    defect(
        "exchange-address-optional (CODE-06): The gateway accepts an exchange without a redirect URI.",
        exchange_fields=fields_except("redirect_uri"),
        code_checks=instead(
            CODE_CHECKS,
            honest.redirect_uri_is_the_same,
            lambda facts: honest.redirect_uri_is_the_same(facts) if facts.redirect_uri else None,
        ),
    ),
)

NEITHER = (
    defect(
        "exchange-without-pkce-and-address (CODE-06): The gateway accepts an exchange that has neither "
        "verifier nor redirect URI; with only one of them it refuses.",
        exchange_fields=all_or_nothing,
        code_checks=CODE_CHECKS[:-2]
        + tuple(where_given(check) for check in (honest.redirect_uri_is_the_same, honest.verifier_matches)),
    ),
)

DEFECTS = (*VERIFIERS, *ADDRESSES, *NEITHER)
