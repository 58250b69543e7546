"""Code exchanges at the token endpoint: the answer, single use, and the lifetime of a code."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping

from gateproof.conformance.checks.gateway._exchanges import (
    code_after_working_exchange,
    invalid_grant,
    is_bearer,
    is_not_to_be_stored,
    no_tokens,
    refresh,
    require_exchange,
    used_code,
)
from gateproof.conformance.checks.gateway._json_token_request import exchange_in_json
from gateproof.conformance.checks.gateway._second_project import agents_for
from gateproof.conformance.checks.gateway._second_resource import of_one_merchant
from gateproof.conformance.kit.gateway.gateway import Gateway
from gateproof.conformance.kit.gateway.world import World
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import LeftOut, Unavailable, expect, observe, require
from gateproof.conformance.suite.parties import Authorization
from gateproof.conformance.suite.pauses import Cause, wait_for
from gateproof.conformance.suite.time_limits import PROVISIONING_S
from gateproof.conformance.wire.exchange import Exchange
from gateproof.conformance.wire.jose import is_compact, read

# How long after its use a code is sent again; codes should expire after ten minutes (RFC 6749 section 4.1.2).
LATER_S = (6, 15, 30, 180, 540)
# Enough codes that a gateway which remembers only the last few has forgotten the first.
OTHERS = 10
# Longer than any undeclared lifetime of a code, shorter than any other lifetime that a check relies on.
CODES_ARE_OVER_S = 24 * 3600
# Ages at which a code may have just expired.
JUST_OVER_S = (61, 121, 301, 601, 1801, 3601)
# The longest declared lifetime that checks wait for, and an allowance for clock skew.
LONGEST_WAIT_S, LATE_S = 120.0, 1.5
# How long after its declared expiry a code is certainly expired, if the clock can be moved.
MOVED_LATE_S = 60.0


@check("CODE-01")
def exchange_answers_with_every_token(gateway: Gateway, world: World) -> None:
    """A code exchange returns an access token and an ID token (JWTs), a refresh token and the scopes."""
    _every_token(gateway.exchange(world.new_code()))


@check("CODE-01")
def any_registered_redirect_uri_gives_every_token(gateway: Gateway, world: World) -> None:
    """An agent with several redirect URIs gets its tokens through each of them."""
    world = world.in_one_browser()
    agent = world.agents.new_if_accepted(
        "https://agent.example/callback", "https://agent.example/other?tenant=1"
    )
    for uri in agent.redirect_uris:
        _every_token(gateway.exchange(world.code_for(world.attempt(agent, redirect_uri=uri))))


@check("CODE-01", needs=["users:2"])
def another_user_gives_every_token_too(gateway: Gateway, world: World) -> None:
    """A code that a second user gave the same agent is exchanged for all tokens."""
    agent = world.agents.new()
    for user in world.users[:2]:
        _every_token(gateway.exchange(world.new_code(agent=agent, user=user)))


@check("CODE-01", needs=["resources:2"])
def another_resource_gives_every_token_too(gateway: Gateway, world: World) -> None:
    """The code for a second Resource is exchanged for all tokens."""
    world = world.in_one_browser()
    resources = of_one_merchant(world, world.projects.two_resources())
    for agent, resource in zip(agents_for(world, resources), resources, strict=True):
        _every_token(gateway.exchange(world.new_code(agent=agent, resource=resource)))


@check("CODE-01", needs=["two-projects"])
def another_project_gives_every_token_too(gateway: Gateway, world: World) -> None:
    """The code that a second agent got in a second Project is exchanged for all tokens."""
    world = world.in_one_browser()
    both = world.projects.home().resource, world.projects.another().resource
    for resource in of_one_merchant(world, both):
        _every_token(gateway.exchange(world.new_code(resource=resource)))


@check("CODE-02")
def code_works_only_once(gateway: Gateway, world: World) -> None:
    """A code that was exchanged is refused with invalid_grant at each later exchange."""
    authorization = world.new_code()
    require(gateway.exchange(authorization)).status(200)

    for which in ("second", "third"):
        invalid_grant(gateway.exchange(authorization), f"a code used for the {which} time")


@check("CODE-02")
def code_works_only_once_beside_another(world: World) -> None:
    """A used code is refused after its agent has exchanged several other codes."""
    world, used = code_after_working_exchange(world)
    require(world.gateway.exchange(used)).status(200)
    for _ in range(OTHERS):
        require_exchange(world, used.agent)

    invalid_grant(world.gateway.exchange(used), f"a code used before {OTHERS} others")


@check("CODE-02", needs=["control:advance_clock"])
def code_works_only_once_however_late(world: World) -> None:
    """A used code is refused at any later time, before and after its expiry."""
    world = world.in_one_browser()
    # One code for each time: the second use of a code may revoke everything from its first use, and so hide
    # the result of a third use.
    used = [used_code(world) for _ in LATER_S]

    gone_s = 0
    for authorization, later_s in zip(used, LATER_S, strict=True):
        world.clock.advance(later_s - gone_s)
        gone_s = later_s
        no_tokens(world.gateway.exchange(authorization), "a code used before")


@check("CODE-03")
def expired_code_is_refused(world: World) -> None:
    """An expired code is refused with invalid_grant; a fresh code was exchanged.

    The lifetime is the one that the target file declares, however long it is, or otherwise a day.
    """
    world, authorization = code_after_working_exchange(world)
    if world.clock.can_move():
        declared = world.code_lifetime_s
        world.clock.advance(CODES_ARE_OVER_S if declared is None else declared + MOVED_LATE_S)
    else:
        _wait_out(world)

    invalid_grant(world.gateway.exchange(authorization), "an expired code")


@check("CODE-03", needs=["control:advance_clock"])
def code_that_has_just_expired_is_refused(world: World) -> None:
    """A code that has just expired is refused with invalid_grant; the gateway may still have stored it."""
    world = world.in_one_browser()
    require(world.gateway.exchange(world.new_code())).status(200)
    declared = world.code_lifetime_s
    for age_s in JUST_OVER_S if declared is None else [declared + MOVED_LATE_S]:
        authorization = world.new_code()
        world.clock.advance(age_s)
        answer = world.gateway.exchange(authorization)
        if answer.status != 200:
            invalid_grant(answer, f"a code of {age_s:g} s")
            return
    raise LeftOut("no code expires within an hour")


@check("CODE-11")
def token_answer_is_not_to_be_stored(gateway: Gateway, world: World) -> None:
    """A token answer has Cache-Control: no-store."""
    is_not_to_be_stored(require(gateway.exchange(world.new_code())).status(200), "code exchange")


@check("CODE-11")
def token_type_is_bearer(gateway: Gateway, world: World) -> None:
    """A token answer has the token_type Bearer, in any case."""
    is_bearer(require(gateway.exchange(world.new_code())).status(200))


# What is changed in a correct exchange; None leaves the field out.
REFUSED: Mapping[str, Mapping[str, str | None]] = {
    "unknown-code": {"code": "gateproof-invented"},
    "no-code": {"code": None},
    "unknown-grant": {"grant_type": "gateproof"},
    "no-grant": {"grant_type": None},
    "wrong-secret": {"client_secret": "gateproof-wrong"},
    "wrong-verifier": {"code_verifier": "gateproof-wrong-verifier-of-enough-characters"},
}


@check("CODE-11", cases=REFUSED)
def refusal_is_json_with_an_error(world: World, case: Mapping[str, str | None]) -> None:
    """A refusal at the token endpoint is a JSON object with the member `error`."""
    world, authorization = code_after_working_exchange(world)
    answer = require(world.gateway.exchange(authorization, **case)).refused()

    expect.text(expect(answer).json_object().get("error"), "error in the refusal")


@check("CODE-12")
def second_use_ends_redemption_by_the_first(gateway: Gateway, world: World) -> None:
    """After a code is used again, the access token of its first use no longer redeems."""
    resource, proxy_token = world.projects.home().resource, world.backend.proxy_token()
    authorization = world.new_code(resource=resource)
    access_token = _first_use(gateway, authorization, "access_token")
    bearer = gateway.keyring.secret("access_token", access_token)
    deadline = time.monotonic() + PROVISIONING_S
    before = gateway.redeem(bearer, proxy_token, resource.indicator)
    while before.status == 404 and time.monotonic() < deadline:
        wait_for(Cause.PROVISIONING, 0.25)
        before = gateway.redeem(bearer, proxy_token, resource.indicator)
    require(before).status(200)
    require(gateway.exchange(authorization)).refused()

    after = gateway.redeem(bearer, proxy_token, resource.indicator)

    expect(after).not_granted("a merchant token", "access_token")


@check("CODE-12")
def second_use_ends_refreshing_by_the_first(world: World) -> None:
    """After a code is used again, the refresh token of its first use no longer refreshes."""
    world = world.in_one_browser()
    agent = world.agents.new()
    twin = _first_use(world.gateway, world.new_code(agent=agent), "refresh_token")
    if refresh(world.gateway, agent, twin).status != 200:
        raise LeftOut("the refresh grant of RFC 6749 is not supported")
    authorization = world.new_code(agent=agent)
    refresh_token = _first_use(world.gateway, authorization, "refresh_token")
    require(world.gateway.exchange(authorization)).refused()

    no_tokens(refresh(world.gateway, agent, refresh_token), "the refresh token of a code that came twice")


@check("CODE-13")
def record_of_the_refresh_grant(gateway: Gateway, world: World) -> None:
    """Records the answer to a refresh grant, and whether it contains a new refresh token."""
    grant = world.grant()
    answer = refresh(gateway, grant.agent, grant.refresh_token.reveal())
    came = answer.member("refresh_token")
    observe(
        refresh_status=answer.status or "no answer",
        refresh_members=", ".join(sorted(document)) if isinstance(document := answer.json(), dict) else "",
        refresh_token="none"
        if came is None
        else "the same"
        if came == grant.refresh_token.reveal()
        else "another",
    )
    if answer.status == 200:
        again = refresh(gateway, grant.agent, grant.refresh_token.reveal())
        observe(first_refresh_token_again=again.status or "no answer")


@check("CODE-13")
def record_of_a_json_body(gateway: Gateway, world: World) -> None:
    """Records the answer to a code exchange in JSON; the specification requires a form."""
    answer = exchange_in_json(world, gateway.exchange_fields(world.new_code()))
    observe(json_body=answer.status or "no answer")


# Makes the verifier that is sent next from the wrong verifier and the challenge.
LATER_TRIES: Mapping[str, Callable[[str, str], str]] = {
    "same-wrong-one": lambda wrong, _: wrong,
    "another-wrong-one": lambda wrong, _: wrong[::-1],
    "challenge": lambda _, challenge: challenge,
}


@check("CODE-14", cases=LATER_TRIES)
def failed_exchange_opens_the_code_to_no_other_verifier(
    world: World, case: Callable[[str, str], str]
) -> None:
    """After an exchange with a wrong verifier, only the right verifier may still get tokens."""
    world, authorization = code_after_working_exchange(world)
    attempt = world.attempt(authorization.agent)
    code = world.code_for(attempt)
    wrong, challenge = authorization.verifier.reveal(), attempt.parameters["code_challenge"]
    first = world.gateway.exchange(code, code_verifier=wrong)
    require(first).refused()

    again = world.gateway.exchange(code, code_verifier=case(wrong, challenge))
    no_tokens(again, "a wrong verifier, after an exchange with a wrong one")
    observe(right_verifier_after_wrong_ones=world.gateway.exchange(code).status or "no answer")


def _every_token(answer: Exchange) -> None:
    expect(answer).status(200)
    tokens = expect(answer).json_object()
    for name in ("access_token", "id_token"):
        token = expect.text(tokens.get(name), name)
        expect.that(read(token) is not None, name, expected="a JWT", got="something else")
        expect.that(is_compact(token), name, expected="base64url without padding", got="another form of it")
    expect.text(tokens.get("refresh_token"), "refresh_token")
    expect.text(tokens.get("scope"), "scope")


def _wait_out(world: World) -> None:
    lifetime = world.code_lifetime_s
    if lifetime is None or lifetime > LONGEST_WAIT_S:
        raise Unavailable(
            "limits:code_lifetime_s", f"a code lifetime of at most {LONGEST_WAIT_S:.0f} s can be waited out"
        )
    wait_for(Cause.EXPIRY, lifetime + LATE_S)


def _first_use(gateway: Gateway, authorization: Authorization, member: str) -> str:
    answer = require(gateway.exchange(authorization)).status(200)
    return require.text(answer.member(member), f"{member} of the code exchange")
