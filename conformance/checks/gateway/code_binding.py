"""A code is bound to its verifier and its redirect URI."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from string import ascii_letters, digits

from gateproof.conformance.checks.gateway._exchanges import (
    NESTED,
    code_after_working_exchange,
    invalid_grant,
    no_tokens,
    require_exchange,
)
from gateproof.conformance.checks.gateway._visits import visit_with
from gateproof.conformance.kit.gateway.codes import require_code
from gateproof.conformance.kit.gateway.gateway import CALLBACK
from gateproof.conformance.kit.gateway.reused_agent import reused_authorization
from gateproof.conformance.kit.gateway.world import World
from gateproof.conformance.kit.inputs.respellings import in_the_spare_bits
from gateproof.conformance.suite.check import check
from gateproof.conformance.wire.agent import fresh_verifier, s256

_ALPHABET = ascii_letters + digits + "-_"


def _changed(text: str, place: int) -> str:
    """The text with one character replaced by its neighbour in the alphabet."""
    letter = _ALPHABET[(_ALPHABET.index(text[place]) + 1) % len(_ALPHABET)]
    return text[:place] + letter + text[place:][1:]


# Well-formed but wrong verifiers, made from right ones of 43, 64 or 128 characters.
WRONG_VERIFIERS: Mapping[str, tuple[int, Callable[[str], str]]] = {
    "another": (43, lambda _: fresh_verifier()),
    "the-challenge": (43, s256),
    "challenge-of-the-challenge": (43, lambda verifier: s256(s256(verifier))),
    "first-character-changed": (43, lambda verifier: _changed(verifier, 0)),
    "middle-character-changed": (43, lambda verifier: _changed(verifier, 21)),
    "last-character-changed": (43, lambda verifier: _changed(verifier, 42)),
    "same-octets-in-base64": (43, lambda verifier: in_the_spare_bits(verifier) or verifier),
    "first-43-characters": (64, lambda verifier: verifier[:43]),
    "all-but-the-last-character": (64, lambda verifier: verifier[:-1]),
    "all-but-the-first-character": (64, lambda verifier: verifier[1:]),
    "character-44-changed": (64, lambda verifier: _changed(verifier, 43)),
    "suffix-of-one-character": (43, lambda verifier: verifier + "A"),
    "suffix-twice-the-length": (43, lambda verifier: verifier + verifier),
    "other-case": (43, lambda verifier: verifier.swapcase()),
    "lower-case": (43, lambda verifier: verifier.lower()),
    "backwards": (43, lambda verifier: verifier[::-1]),
    "last-of-128-changed": (128, lambda verifier: _changed(verifier, 127)),
}

# Verifiers that RFC 7636 does not allow, so the error may be a different one.
MISSHAPEN_VERIFIERS: Mapping[str, Callable[[str], str]] = {
    "beginning": lambda verifier: verifier[:42],
    "one-character": lambda verifier: verifier[:1],
    "padded": lambda verifier: verifier + "=",
    "too-long": lambda verifier: verifier * 4,
    "star": lambda _: "*" * 43,
    "null-behind": lambda verifier: verifier + "\0",
    "space-behind": lambda verifier: verifier + " ",
    "space-before": lambda verifier: " " + verifier,
    "line-end-behind": lambda verifier: verifier + "\n",
}

# Challenges that an incomplete comparison accepts as the right one. The last character is kept, because not
# every character is valid there.
NEAR_CHALLENGES: Mapping[str, Callable[[str], str]] = {
    "other-case": lambda challenge: challenge[:-1].swapcase() + challenge[-1],
    "first-character-changed": lambda challenge: _changed(challenge, 0),
    "middle-character-changed": lambda challenge: _changed(challenge, 21),
    "last-character-but-one-changed": lambda challenge: _changed(challenge, 41),
}

# Redirect URIs to send with a code that went to CALLBACK; the first one is registered as well.
OTHER_URI = "https://agent.example/other"
OTHER_URIS = {
    "registered-other": OTHER_URI,
    "unregistered": "https://evil.example/callback",
    "trailing-slash": "https://agent.example/callback/",
    "path-case": "https://agent.example/Callback",
    "extra-query": "https://agent.example/callback?next=1",
    "extra-segment": "https://agent.example/callback/next",
    "beginning": "https://agent.example/",
    "host-case": "https://AGENT.example/callback",
    "scheme-case": "HTTPS://agent.example/callback",
    "default-port": "https://agent.example:443/callback",
    "sub-domain": "https://evil.agent.example/callback",
    "fragment": "https://agent.example/callback#",
    "space-behind": "https://agent.example/callback ",
    "dot-dot-segment": "https://agent.example/x/../callback",
    "port": "https://agent.example:8443/callback",
    "http": "http://agent.example/callback",
    "encoded-letter": "https://agent.example/%63allback",
    "dot-segment": "https://agent.example/./callback",
}

INCOMPLETE: Mapping[str, Mapping[str, str | None]] = {
    "no-verifier": {"code_verifier": None},
    "empty-verifier": {"code_verifier": ""},
    "no-redirect-uri": {"redirect_uri": None},
    "empty-redirect-uri": {"redirect_uri": ""},
    "neither": {"code_verifier": None, "redirect_uri": None},
}


@check("CODE-04", cases=WRONG_VERIFIERS)
def wrong_verifier_is_refused(world: World, case: tuple[int, Callable[[str], str]]) -> None:
    """A verifier that does not match the challenge gets invalid_grant, however similar it is."""
    length, wrong = case
    world, authorization = code_after_working_exchange(world, verifier=_verifier(length))
    verifier = world.gateway.keyring.secret(
        "wrong_verifier", _different_verifier(authorization.verifier.reveal(), wrong)
    )

    invalid_grant(
        world.gateway.exchange(authorization, code_verifier=verifier.reveal()), "a wrong code_verifier"
    )


@check("CODE-04", cases=MISSHAPEN_VERIFIERS)
def misshapen_verifier_is_refused(world: World, case: Callable[[str], str]) -> None:
    """A malformed verifier gets no tokens; the error may be any."""
    world, authorization = code_after_working_exchange(world)
    wrong = case(authorization.verifier.reveal())

    no_tokens(world.gateway.exchange(authorization, code_verifier=wrong), "a misshapen code_verifier")


@check("CODE-04", cases=NEAR_CHALLENGES)
def verifier_of_nearly_the_challenge_is_refused(world: World, case: Callable[[str], str]) -> None:
    """A verifier whose challenge differs slightly from the authorization's gets invalid_grant."""
    world, twin = code_after_working_exchange(world)
    attempt = world.attempt(twin.agent)
    near = case(attempt.parameters["code_challenge"])
    visit = visit_with(world, attempt, code_challenge=near)
    code = require_code(world.gateway, visit)

    answer = world.gateway.exchange(world.authorization_of(attempt, code))
    invalid_grant(answer, "a code_verifier whose challenge is nearly that of the authorization")


@check("CODE-05", cases=OTHER_URIS)
def other_redirect_uri_is_refused(world: World, case: str) -> None:
    """An exchange with a redirect URI other than the authorization's gets invalid_grant."""
    world, _ = reused_authorization(world)
    agent = world.agents.new(CALLBACK, OTHER_URI)
    require_exchange(world, agent)
    authorization = world.new_code(agent=agent)
    world.show(case)

    answer = world.gateway.exchange(authorization, redirect_uri=case)

    invalid_grant(answer, f"the redirect URI {case} in place of {CALLBACK}")


@check("CODE-05", cases=("without-its-query", "with-another-query"))
def query_of_the_redirect_uri_counts(world: World, case: str) -> None:
    """An exchange must repeat the query of the redirect URI, or it gets invalid_grant."""
    world = world.in_one_browser()
    uri = f"{CALLBACK}?tenant=1"
    agent = world.agents.new_if_accepted(uri)
    require_exchange(world, agent)
    authorization = world.new_code(agent=agent)
    other = CALLBACK if case == "without-its-query" else f"{CALLBACK}?tenant=2"

    invalid_grant(world.gateway.exchange(authorization, redirect_uri=other), f"{other} in place of {uri}")


@check("CODE-06", cases=INCOMPLETE)
def incomplete_exchange_gets_no_tokens(world: World, case: Mapping[str, str | None]) -> None:
    """An exchange without verifier or without redirect URI gets no tokens."""
    world, authorization = code_after_working_exchange(world)

    missing = " and ".join(f"{'an empty' if value == '' else 'no'} {name}" for name, value in case.items())
    no_tokens(world.gateway.exchange(authorization, **case), missing)


@check("CODE-06", cases=NESTED)
def nested_verifier_gets_no_tokens(world: World, case: tuple[str, str]) -> None:
    """A verifier sent as a nested field such as `code_verifier[]` counts as missing: no tokens."""
    world, authorization = code_after_working_exchange(world)
    key, value = case

    answer = world.gateway.exchange(authorization, **{"code_verifier": None, f"code_verifier{key}": value})
    no_tokens(answer, f"code_verifier{key} in place of code_verifier")


def _verifier(length: int) -> str:
    return (fresh_verifier() + fresh_verifier() + fresh_verifier())[:length]


def _different_verifier(verifier: str, change: Callable[[str], str]) -> str:
    """The changed verifier; one that is unchanged by chance gets a different end."""
    wrong = change(verifier)
    return wrong if wrong != verifier else _changed(verifier, len(verifier) - 1)
