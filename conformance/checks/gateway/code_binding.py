"""A code belongs to its verifier and to its redirect URI."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from string import ascii_letters, digits

from gateproof.conformance.checks.gateway._exchanges import NESTED, invalid_grant, no_tokens, proven, works
from gateproof.conformance.checks.gateway._visits import visit_with
from gateproof.conformance.kit.gateway.gateway import CALLBACK
from gateproof.conformance.kit.gateway.reused_agent import regular
from gateproof.conformance.kit.gateway.world import World
from gateproof.conformance.kit.inputs.respellings import in_the_spare_bits
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import require
from gateproof.conformance.wire.agent import fresh_verifier, s256

_ALPHABET = ascii_letters + digits + "-_"


def _changed(text: str, place: int) -> str:
    """The text with one character changed to a neighbour of the alphabet."""
    letter = _ALPHABET[(_ALPHABET.index(text[place]) + 1) % len(_ALPHABET)]
    return text[:place] + letter + text[place:][1:]


# Verifiers of the right shape that are not the right one; what is right has 43, 64 or 128 characters.
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

# Verifiers that RFC 7636 does not allow at all, so that another error may be named.
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

# Challenges beside the right one: what a comparison takes for it that looks at less than all of it. The last
# character stays, for it cannot be any.
NEAR_CHALLENGES: Mapping[str, Callable[[str], str]] = {
    "other-case": lambda challenge: challenge[:-1].swapcase() + challenge[-1],
    "first-character-changed": lambda challenge: _changed(challenge, 0),
    "middle-character-changed": lambda challenge: _changed(challenge, 21),
    "last-character-but-one-changed": lambda challenge: _changed(challenge, 41),
}

# Redirect URIs at the exchange of a code that went to CALLBACK; the first is registered as well.
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
    """A verifier that is not the one behind the challenge gets invalid_grant, however close it is."""
    length, wrong = case
    world, authorization = proven(world, verifier=_verifier(length))
    verifier = world.gateway.keyring.secret("wrong_verifier", _other(authorization.verifier.reveal(), wrong))

    invalid_grant(
        world.gateway.exchange(authorization, code_verifier=verifier.reveal()), "a wrong code_verifier"
    )


@check("CODE-04", cases=MISSHAPEN_VERIFIERS)
def misshapen_verifier_is_refused(world: World, case: Callable[[str], str]) -> None:
    """A verifier of a shape that is not allowed gets no tokens; which error it gets is open."""
    world, authorization = proven(world)
    wrong = case(authorization.verifier.reveal())

    no_tokens(world.gateway.exchange(authorization, code_verifier=wrong), "a misshapen code_verifier")


@check("CODE-04", cases=NEAR_CHALLENGES)
def verifier_of_nearly_the_challenge_is_refused(world: World, case: Callable[[str], str]) -> None:
    """A verifier whose challenge is not to the letter the one of the authorization gets invalid_grant."""
    world, twin = proven(world)
    attempt = world.attempt(twin.agent)
    near = case(attempt.parameters["code_challenge"])
    visit = visit_with(world, attempt, code_challenge=near)
    code = require.text(visit.parameter("code"), f"code of an authorization; {visit.outcome()}")

    answer = world.gateway.exchange(world.authorization_of(attempt, code))
    invalid_grant(answer, "a code_verifier whose challenge is nearly that of the authorization")


@check("CODE-05", cases=OTHER_URIS)
def other_redirect_uri_is_refused(world: World, case: str) -> None:
    """The exchange names the redirect URI of the authorization, or it gets invalid_grant."""
    world, _ = regular(world)
    agent = world.agents.new(CALLBACK, OTHER_URI)
    works(world, agent)
    authorization = world.new_code(agent=agent)
    world.show(case)

    answer = world.gateway.exchange(authorization, redirect_uri=case)

    invalid_grant(answer, f"the redirect URI {case} in place of {CALLBACK}")


@check("CODE-05", cases=("without-its-query", "with-another-query"))
def query_of_the_redirect_uri_counts(world: World, case: str) -> None:
    """A redirect URI that was used with its query is to be named with it."""
    world = world.in_one_browser()
    uri = f"{CALLBACK}?tenant=1"
    agent = world.agents.new_if_accepted(uri)
    works(world, agent)
    authorization = world.new_code(agent=agent)
    other = CALLBACK if case == "without-its-query" else f"{CALLBACK}?tenant=2"

    invalid_grant(world.gateway.exchange(authorization, redirect_uri=other), f"{other} in place of {uri}")


@check("CODE-06", cases=INCOMPLETE)
def incomplete_exchange_gets_no_tokens(world: World, case: Mapping[str, str | None]) -> None:
    """An exchange without verifier or without redirect URI gets no tokens."""
    world, authorization = proven(world)

    missing = " and ".join(f"{'an empty' if value == '' else 'no'} {name}" for name, value in case.items())
    no_tokens(world.gateway.exchange(authorization, **case), missing)


@check("CODE-06", cases=NESTED)
def nested_verifier_gets_no_tokens(world: World, case: tuple[str, str]) -> None:
    """A verifier that is no string, but something nested under its name, counts as none."""
    world, authorization = proven(world)
    key, value = case

    answer = world.gateway.exchange(authorization, **{"code_verifier": None, f"code_verifier{key}": value})
    no_tokens(answer, f"code_verifier{key} in place of code_verifier")


def _verifier(length: int) -> str:
    return (fresh_verifier() + fresh_verifier() + fresh_verifier())[:length]


def _other(verifier: str, change: Callable[[str], str]) -> str:
    """The changed verifier; one that a change happens to leave as it is gets a changed end too."""
    wrong = change(verifier)
    return wrong if wrong != verifier else _changed(verifier, len(verifier) - 1)
