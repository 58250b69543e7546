"""The claims of the ID token: subject, issuer, audience, nonce and times."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from gateproof.conformance.checks.gateway._refreshed_tokens import reused_refreshed_grant
from gateproof.conformance.checks.gateway._tokens import in_the_future
from gateproof.conformance.checks.gateway._visits import visit_with
from gateproof.conformance.kit.gateway.world import World
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import LeftOut, expect, observe, require
from gateproof.conformance.suite.parties import Attempt
from gateproof.conformance.wire.agent import fresh_state
from gateproof.conformance.wire.documents import strings_in
from gateproof.conformance.wire.exchange import Exchange

# How far in the future `iat` may be, as clock skew.
AHEAD_S = 60.0
# Whether both codes are open at once.
CODES = {"one-after-the-other": False, "open-at-once": True}


@check("CLAIM-11", needs=["users:2"], cases=CODES)
def id_token_is_about_the_user_who_signed_in(world: World, case: bool) -> None:
    """ID tokens of two users of an agent have different subjects, and no claim is the other's login."""
    agent, users = world.agents.new(), world.users[:2]
    attempts = [world.attempt(agent, user=user) for user in users]
    told = [_claims(world, answer) for answer in _exchanged(world, attempts, at_once=case)]
    subs = [expect.text(claims.get("sub"), "sub of the ID token") for claims in told]

    expect.that(
        subs[0] != subs[1],
        "sub of the ID token of the second user",
        expected="another than the first's",
        got="the same",
    )
    for claims, user, other in zip(told, users, reversed(users), strict=True):
        expect.that(
            other.login not in strings_in(claims),
            f"ID token of {user.name}",
            expected="nothing about anybody else",
            got=f"the login of {other.name}",
        )


@check("CLAIM-11")
def id_token_names_issuer_and_times(world: World) -> None:
    """The ID token's `iss` is the issuer, its `exp` is in the future, and `iat` and `nbf` are not."""
    grant = world.grant()
    issuer = require.text(world.discovery(grant.resource).get("issuer"), "issuer in the discovery document")

    _is_of_the_issuer_and_in_time(world, grant.answer, issuer)


@check("CLAIM-11")
def id_token_has_no_other_nonce(world: World) -> None:
    """The ID token has the `nonce` of its authorization request or none, in a first and a second request.

    An ID token without a nonce is recorded: the rule does not demand one.
    """
    agent = world.agents.new()
    require(world.gateway.exchange(world.new_code(agent=agent))).status(200)
    for _ in range(2):
        attempt, nonce = world.attempt(agent), fresh_state()
        code = visit_with(world, attempt, nonce=nonce).parameter("code")
        if not code:
            raise LeftOut("an authorization request with a nonce gives no code")
        answer = require(world.gateway.exchange(world.authorization_of(attempt, code))).status(200)

        came = _claims(world, answer).get("nonce")
        observe(nonce_in_id_tokens=bool(came))
        expect.that(
            not came or came == nonce,
            "nonce of the ID token",
            expected="that of the request, or none",
            got=came,
        )


@check("CLAIM-11")
def id_token_of_a_refresh_is_for_the_same_user(world: World) -> None:
    """The ID token of a refresh has the same issuer and subject, the agent as audience, and valid times."""
    fresh = reused_refreshed_grant(world)
    if not isinstance(fresh.answer.member("id_token"), str):
        raise LeftOut("a refresh brings no ID token")
    before = world.jwt(fresh.id_token, "ID token").claims
    after = _claims(world, fresh.answer)

    for name in ("iss", "sub"):
        expect.equal(after.get(name), before.get(name), f"{name} of the ID token of a refresh")
    held = after["aud"] if isinstance(after.get("aud"), list) else [after.get("aud")]
    expect.that(
        fresh.agent.client_id in held, "aud of the ID token of a refresh", expected="the client ID", got=held
    )
    _is_of_the_issuer_and_in_time(world, fresh.answer, before.get("iss"))


def _exchanged(world: World, attempts: Sequence[Attempt], *, at_once: bool) -> list[Exchange]:
    """The exchanges of these attempts; with `at_once`, none begins before every attempt has its code."""
    if not at_once:
        return [require(world.gateway.exchange(world.code_for(attempt))).status(200) for attempt in attempts]
    codes = [world.code_for(attempt) for attempt in attempts]
    answers = [world.gateway.exchange(code) for code in codes]
    if any(answer.status != 200 for answer in answers):
        raise LeftOut("the gateway does not keep several codes of an agent valid at once")
    return answers


def _claims(world: World, answer: Exchange) -> Mapping[str, Any]:
    text = require.text(answer.member("id_token"), "id_token of the answer")
    return world.jwt(world.gateway.keyring.secret("id_token", text), "ID token").claims


def _is_of_the_issuer_and_in_time(world: World, answer: Exchange, issuer: object) -> None:
    claims, now = _claims(world, answer), world.clock.target_time(answer)

    expect.equal(claims.get("iss"), issuer, "iss of the ID token")
    in_the_future(claims.get("exp"), now)
    for name in ("iat", "nbf"):
        said = claims.get(name)
        good = isinstance(said, int | float) and not isinstance(said, bool) and said <= now + AHEAD_S
        expect.that(
            good or (name == "nbf" and said is None),
            f"{name} of the ID token",
            expected=f"a number, {now + AHEAD_S:.0f} at most",
            got=said,
        )
