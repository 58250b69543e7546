"""What the gateway logs: a whole life of a grant, its failures too, and no credential in it."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace

from conformance.check import check
from conformance.claims import Unavailable, expect, observe, require
from conformance.gateway import Gateway
from conformance.near_misses import changed_at_the_end
from conformance.run.received import Received
from conformance.target import actions
from conformance.target.control import ControlPlane
from conformance.wire import leaks
from conformance.wire.secret import Secret
from conformance.world import World

# Log lines may be written a moment after the answer.
QUIET_S, MOST_CALLS = 0.3, 6


@check("SECRET-05")
def gateway_access_tokens_are_not_in_the_logs(gateway: Gateway, world: World) -> None:
    """No access token of a whole life stands in the logs as it is, or so that its signature can be read."""
    log = _life(gateway, world)

    _not_logged(log, _tokens(gateway, "access_token"), "gateway access token", plain=True)


@check("SECRET-05")
def id_tokens_are_not_in_the_logs(gateway: Gateway, world: World) -> None:
    """No ID token of a whole life stands in the logs, nor its claims as they were encoded."""
    log = _life(gateway, world)

    _not_logged(log, _tokens(gateway, "id_token"), "ID token", plain=False)


@check("SECRET-08", cases=("proxy_token", "proxy_client_secret", "client_secret", "code"))
def other_credential_is_not_in_the_logs(gateway: Gateway, world: World, case: str) -> None:
    """Proxy tokens, secrets of agents and Proxy clients, and codes stay out of the logs in any encoding."""
    log = _life(gateway, world)
    found = [leaks.canary(case, value) for value in gateway.keyring.values(case)]

    _not_logged(log, found, case.replace("_", " "), plain=False)


@check("SECRET-08", needs=["merchant"], cases=("merchant_access_token", "merchant_refresh_token"))
def merchants_token_is_not_in_the_logs(gateway: Gateway, world: World, received: Received, case: str) -> None:
    """What the merchant gave the gateway to keep stays out of the logs in any encoding."""
    log = _life(gateway, world)

    require.that(received.minted(case) > 0, "this life", expected="a merchant that issued tokens", got="none")
    found = leaks.search_all(received.hoards(case), log)
    what = case.replace("_", " ")
    expect.that(
        not found, f"the log, {len(log)} characters", expected=f"no {what} in it", got=f"{len(found)} of them"
    )


@check("SECRET-08", needs=["merchant"])
def what_else_the_logs_hold(gateway: Gateway, world: World) -> None:
    """Agents' refresh tokens stay out of the logs; the merchant's spent codes there are recorded."""
    log = _life(gateway, world)
    merchant = world.merchant
    codes = [token.value for token in merchant.tokens("code")] if merchant else []

    observe(log_characters=len(log), merchant_codes_in_the_log=any(code in log for code in codes))
    found = [leaks.canary("refresh_token", value) for value in gateway.keyring.values("refresh_token")]
    _not_logged(log, found, "agent's refresh token", plain=False)


def _life(gateway: Gateway, world: World) -> str:
    """A sign-in, an exchange, a redemption and what goes wrong around them, and what was logged of it."""
    actions.logs(_control(world))
    authorization = world.authorization()
    wrong = gateway.exchange(
        replace(authorization, code=Secret("code", changed_at_the_end(authorization.code.reveal())))
    )
    grant = world.grant()
    proxy_token = world.proxy_token()
    require(world.redeem(grant, proxy_token)).status(200)
    require(wrong).refused()
    indicator = grant.resource.indicator
    gateway.redeem(grant.id_token, proxy_token, indicator)
    gateway.redeem(grant.access_token, proxy_token, f"{indicator}x")
    gateway.redeem(grant.access_token, None, indicator)
    gateway.redeem(None, proxy_token, indicator)
    gateway.exchange(authorization, code_verifier="a" * 43)
    gateway.exchange(authorization)
    gateway.exchange(authorization, redirect_uri="https://agent.example/other")
    gateway.token_request([("grant_type", "none"), ("client_secret", grant.agent.client_secret.reveal())])
    gateway.token_request(
        [
            ("grant_type", "refresh_token"),
            ("refresh_token", grant.refresh_token.reveal()),
            ("client_id", grant.agent.client_id),
            ("client_secret", grant.agent.client_secret.reveal()),
        ]
    )
    client = world.home().proxy_client
    gateway.proxy_token(replace(client, id=f"{client.id}x"))
    return _log(world)


def _log(world: World) -> str:
    """Everything logged since the last look, once nothing more comes.

    A control that hands over nothing after all this has not shown that nothing is in the log.
    """
    control, texts = _control(world), list[str]()
    for _ in range(MOST_CALLS):
        texts.append(actions.logs(control))
        if any(texts) and not texts[-1]:
            break
        time.sleep(QUIET_S)
    log = "".join(texts)
    require.that(
        bool(log.strip()),
        "control action logs",
        expected="a line about a sign-in, a redemption or what went wrong with them",
        got="nothing",
    )
    return log


def _control(world: World) -> ControlPlane:
    if world.control is None:
        raise Unavailable("control:logs", "needs the control action logs")
    return world.control


def _tokens(gateway: Gateway, kind: str) -> list[leaks.Canary]:
    """JWTs: whole, by their signatures, and of an ID token the claims, which are about a person."""
    found = []
    for value in gateway.keyring.values(kind):
        found.append(leaks.canary(kind, value))
        if kind == "id_token" and value.count(".") == 2:
            found.append(leaks.Canary(kind=kind, value=value.split(".")[1]))
    return found


def _not_logged(log: str, canaries: Sequence[leaks.Canary], what: str, *, plain: bool) -> None:
    canaries = [each for each in canaries if leaks.is_distinct(each.value)]
    require.that(bool(canaries), "this life", expected=f"a {what} that is no word, to look for", got="none")
    found = leaks.Hoard(canaries).search(log)
    if plain:
        found = [each for each in found if each.how in leaks.PLAIN]
    expect.that(
        not found,
        f"the log, {len(log)} characters",
        expected=f"no {what} in it",
        got=f"{len({each.value for each in found})} of them, written {found[0].how}" if found else "none",
    )
