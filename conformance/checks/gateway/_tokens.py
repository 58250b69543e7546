"""The content of the tokens of a grant."""

from __future__ import annotations

import base64
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from gateproof.conformance.kit.gateway.agents import AGENT_DOMAIN, AGENT_NAME
from gateproof.conformance.kit.gateway.world import World
from gateproof.conformance.suite.claims import attach, expect, require
from gateproof.conformance.suite.parties import Agent, Attempt, Grant, User
from gateproof.conformance.wire.documents import keys_in, strings_in
from gateproof.conformance.wire.jose import read
from gateproof.reports.encodings import embedded

# The last second of the year 9999, which some use for "never"; a time in milliseconds is far above it.
LATEST = 253_402_300_799


def claims_of(world: World, grant: Grant) -> Mapping[str, Any]:
    claims = world.jwt(grant.access_token, "gateway access token").claims
    attach(claims=claims)
    return claims


def sub_of(world: World, grant: Grant) -> str:
    """The `sub` of the grant's access token."""
    return require.text(claims_of(world, grant).get("sub"), "sub")


def ext_of(world: World, grant: Grant) -> Mapping[str, Any]:
    ext = claims_of(world, grant).get("ext")
    return ext if isinstance(ext, dict) else {}


def bound_to(claims: Mapping[str, Any], indicator: str) -> None:
    audience = claims.get("aud")
    expect.that(isinstance(audience, list), "aud", expected="an array", got=audience)
    expect.that(indicator in (audience or ()), "aud", expected=f"{indicator} in it, unchanged", got=audience)


def of_level_2(acr: object) -> None:
    good = isinstance(acr, str) and acr.endswith(":al2") and len(acr) > len(":al2")
    expect.that(good, "ext.acr", expected="a name, then :al2", got=acr)


def in_the_future(exp: object, now: float) -> None:
    seconds = exp if isinstance(exp, int | float) and not isinstance(exp, bool) else None
    expect.that(seconds is not None, "exp", expected="a number", got=exp)
    expect.that((seconds or 0) > now, "exp", expected=f"later than {now:.0f}", got=exp)
    expect.that((seconds or 0) <= LATEST, "exp", expected=f"seconds, {LATEST} at most", got=exp)


def lists_methods(amr: object) -> None:
    good = isinstance(amr, list) and all(isinstance(method, str) for method in amr)
    expect.that(good, "ext.amr", expected="an array of strings", got=amr)


def agent_in(ext: Mapping[str, Any]) -> Mapping[str, Any]:
    agent = ext.get("agent")
    expect.that(isinstance(agent, dict), "ext.agent", expected="an object", got=type(agent).__name__)
    return agent if isinstance(agent, dict) else {}


def names_the_agent(found: Mapping[str, Any], agent: Agent) -> None:
    """The client ID is a value in `ext.agent`, under any name."""
    expect.that(
        any(agent.client_id in text for text in strings_in(found)),
        "ext.agent",
        expected=f"the client ID {agent.client_id}",
        got=f"members {', '.join(keys_in(found))}",
    )


# For each of the three: words of which one must occur in a key or a value of `ext.agent`.
AGENT_FACTS = {
    "domain": ("domain", AGENT_DOMAIN),
    "name": ("name", AGENT_NAME),
    "verifications": ("verif",),
}


def carries(found: Mapping[str, Any], words: Sequence[str]) -> None:
    """One of these words occurs in a key or a value of `ext.agent`."""
    texts = [text.lower() for text in (*keys_in(found), *strings_in(found))]
    expect.that(
        any(word.lower() in text for word in words for text in texts),
        "ext.agent",
        expected=f"{words[0]}, as a key or a value",
        got=f"members {', '.join(keys_in(found))}",
    )


def does_not_reveal_the_user(token: str, user: User, what: str) -> None:
    """The token contains neither login nor e-mail of the user, plain, encoded or backwards."""
    local_part = user.login.partition("@")[0]
    names = {user.login, user.login.lower()} | ({local_part} if len(local_part) > 4 else set())
    written = {form for name in names for form in (name, name[::-1])}
    told = any(form.lower() in token.lower() for name in written for form in _of_one_case(name))
    told = told or any(form in token for name in written for form in embedded(name) if len(form) > 5)
    expect.that(
        not told, what, expected="nothing that reveals the user's login", got="the login, plain or encoded"
    )


def _of_one_case(name: str) -> Iterator[str]:
    """Case-insensitive forms of a name: plain, hexadecimal, and base32 at each alignment."""
    octets = name.encode()
    yield from (name, octets.hex(), octets.hex()[::-1])
    for lead in range(5):
        padded = bytes(lead) + octets
        # Only the characters that depend on the name alone, not on the octets around it.
        start, end = -(-lead * 8 // 5), len(padded) * 8 // 5
        for encode in (base64.b32encode, base64.b32hexencode):
            yield encode(padded).decode("ascii")[start:end]


def audiences_of_code(world: World, attempt: Attempt, code: str) -> list[str]:
    """The `aud` of the access token for this code; empty if the code gives none."""
    token = world.gateway.exchange(world.authorization_of(attempt, code)).member("access_token")
    parsed = read(token) if isinstance(token, str) else None
    named = parsed.claims.get("aud") if parsed is not None else []
    return [str(each) for each in (named if isinstance(named, list) else [named])]
