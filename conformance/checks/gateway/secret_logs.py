"""Credentials in the gateway's logs, from all steps of a grant and from failures."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace

from gateproof.conformance.checks.gateway._distinct_parts import distinct
from gateproof.conformance.kit.gateway import console, failure_oracle
from gateproof.conformance.kit.gateway.gateway import Gateway
from gateproof.conformance.kit.gateway.isolated_user import isolated_user, let_expire
from gateproof.conformance.kit.gateway.misplaced_tokens import JWT
from gateproof.conformance.kit.gateway.received import Received
from gateproof.conformance.kit.gateway.world import World
from gateproof.conformance.kit.inputs.near_tokens import changed_at_the_end
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import LeftOut, Unavailable, expect, observe, require
from gateproof.conformance.suite.parties import Grant
from gateproof.conformance.suite.pauses import Cause, wait_for
from gateproof.conformance.targets import actions
from gateproof.conformance.targets.control import ControlFailed, ControlPlane
from gateproof.conformance.wire import agent as agent_wire
from gateproof.conformance.wire import leaks
from gateproof.conformance.wire.jose import read, verifying
from gateproof.conformance.wire.secret import Secret

# Log lines may be written shortly after the answer.
QUIET_S, MOST_CALLS = 0.3, 6
KINDS = {"access_token": "gateway access token", "id_token": "ID token"}
# Grant types, and a field of each that is for another credential.
MISPLACED = (
    ("refresh_token", "refresh_token"),
    ("authorization_code", "code"),
    ("urn:ietf:params:oauth:grant-type:token-exchange", "subject_token"),
    ("urn:ietf:params:oauth:grant-type:jwt-bearer", "assertion"),
)


@check("SECRET-05")
def gateway_access_tokens_are_not_in_the_logs(gateway: Gateway, world: World) -> None:
    """The logs contain no access token of a complete flow, neither the whole token nor its signature."""
    log = _complete_flow(gateway, world)

    _not_logged(log, _tokens(gateway, "access_token"), "gateway access token", plain=True)


@check("SECRET-05")
def id_tokens_are_not_in_the_logs(gateway: Gateway, world: World) -> None:
    """The logs contain no ID token of a complete flow, nor its encoded claims."""
    log = _complete_flow(gateway, world)

    _not_logged(log, _tokens(gateway, "id_token"), "ID token", plain=False)


@check("SECRET-05", needs=["control:withhold_redemption_scope"])
def token_that_may_not_redeem_is_not_in_the_logs(gateway: Gateway, world: World) -> None:
    """A refused access token without the redemption scope is not in the logs."""
    _earlier_logs(world)
    agent = world.agents.new()
    console.withhold_redemption_scope(world, agent)
    grant = world.grant(agent=agent)
    require(
        gateway.redeem(grant.access_token, world.backend.proxy_token(), grant.resource.indicator)
    ).refused()
    log = _log(world)

    _not_logged(log, _tokens(gateway, "access_token"), "gateway access token", plain=True)


@check("SECRET-05", cases=tuple(KINDS))
def token_that_was_misplaced_is_not_in_the_logs(gateway: Gateway, world: World, case: str) -> None:
    """The logs contain no access token or ID token that was sent in a wrong field or header."""
    _earlier_logs(world)
    grant, proxy_token = world.grant(), world.backend.proxy_token()
    sent: Secret = getattr(grant, case)
    _send_misplaced(gateway, world, grant, sent.reveal())
    gateway.redeem(grant.access_token, Secret("misplaced", sent.reveal()), grant.resource.indicator)
    require(gateway.redeem(proxy_token, sent, grant.resource.indicator)).refused()
    log = _log(world)

    _not_logged(log, _tokens(gateway, case), KINDS[case], plain=case == "access_token")


@check("SECRET-05", needs=["merchant"])
def tokens_are_not_in_the_logs_of_a_merchants_trouble(gateway: Gateway, world: World) -> None:
    """The logs contain no access token or ID token after the merchant rejected or failed a refresh."""
    log = _failed_refreshes(world)

    _not_logged(log, _tokens(gateway, "access_token"), "gateway access token", plain=True)
    _not_logged(log, _tokens(gateway, "id_token"), "ID token", plain=False)


@check("SECRET-05", looks_back=True)
def tokens_of_other_checks_are_not_in_the_logs(world: World) -> None:
    """The logs from before this check contain no valid access token or ID token.

    The check does not know these tokens. It looks for JWTs that a core key verifies and that have the claims
    of a sign-in's tokens. Tokens that the suite itself sent in a URL or a cookie are left out.
    """
    _earlier_logs(world)
    logged = world.worker_state.logged
    if logged.lost:
        raise LeftOut("what was logged before is more than the control can return at once")
    if not logged.characters:
        raise LeftOut("nothing was logged before this check")
    grant = world.grant()
    world.keys.core(grant.resource)
    for what, own in (("gateway access token", grant.access_token), ("ID token", grant.id_token)):
        world.jwt(own, what)
        similar = [each for each in logged.jwts if _members(each) == _members(own.reveal())]
        sent_by_us = world.worker_state.misplaced.holds
        found = [
            each for each in similar if verifying(each, world.worker_state.core_keys) and not sent_by_us(each)
        ]
        expect.that(
            not found,
            f"what was logged before, {logged.characters} characters",
            expected=f"no {what} in it",
            got=f"{len(found)} of them",
        )


@check("SECRET-08", cases=("proxy_token", "proxy_client_secret", "client_secret", "code"))
def other_credential_is_not_in_the_logs(gateway: Gateway, world: World, case: str) -> None:
    """The logs contain no Proxy token, agent or Proxy client secret, or code, in any encoding."""
    log = _complete_flow(gateway, world)
    _not_logged(log, _secret_parts(world, case), case.replace("_", " "), plain=False)


@check("SECRET-08", needs=["control:create_proxy_client"])
def secret_of_a_new_proxy_client_is_not_in_the_logs(gateway: Gateway, world: World) -> None:
    """The logs contain no secret of a Proxy client that is created, used, revoked and used again.

    If no client can be revoked here, it is only created and used.
    """
    _earlier_logs(world)
    _, client = world.projects.with_new_client()
    require(gateway.proxy_token(client)).status(200)
    with suppress(Unavailable):
        console.revoke(world, client)
    gateway.proxy_token(client)
    world.grant()
    log = _log(world)

    public = {*gateway.keyring.names, client.id}
    secret = leaks.canary("proxy_client_secret", client.secret.reveal(), public=public)
    _not_logged(log, [secret], "secret of a new Proxy client", plain=False)


@check("SECRET-08", needs=["merchant"], cases=("merchant_access_token", "merchant_refresh_token"))
def merchants_token_is_not_in_the_logs(gateway: Gateway, world: World, received: Received, case: str) -> None:
    """The logs contain no merchant token, in any encoding."""
    log = _complete_flow(gateway, world)

    require.that(received.minted(case) > 0, "this flow", expected="a merchant that issued tokens", got="none")
    found = leaks.search_all(received.canary_sets(case), log)
    what = case.replace("_", " ")
    expect.that(
        not found, f"the log, {len(log)} characters", expected=f"no {what} in it", got=f"{len(found)} of them"
    )


@check("SECRET-08", needs=["merchant"])
def credentials_are_not_in_the_logs_of_a_merchants_trouble(world: World, received: Received) -> None:
    """The logs contain no credential after the merchant rejected or failed a refresh."""
    _holds_no_credential(_failed_refreshes(world), world, received)


@check("SECRET-08", needs=["merchant"])
def credentials_are_not_in_the_logs_of_a_refresh(world: World, received: Received) -> None:
    """The logs contain no credential after a refresh that gave new merchant tokens."""
    _earlier_logs(world)
    due = failure_oracle.expiring_soon(isolated_user(world, own=True))
    due.alone.short_lived(rotate_refresh_tokens=True)
    let_expire(world)
    answer = due.redeem_once()
    if not due.refreshes():
        raise LeftOut("the gateway did not use the refresh token when the merchant token had expired")
    require.that(
        answer.status == 200 and not due.is_stale(answer),
        "redemption after the merchant token has expired",
        expected="another merchant token",
        got=answer.outcome(),
        exchange=answer,
    )

    _holds_no_credential(_log(world), world, received)


def _holds_no_credential(log: str, world: World, received: Received) -> None:
    for kind in ("proxy_token", "client_secret"):
        _not_logged(log, _secret_parts(world, kind), kind.replace("_", " "), plain=False)
    merchants = leaks.search_all(received.canary_sets("merchant_access_token", "merchant_refresh_token"), log)
    expect.that(
        not merchants,
        f"the log, {len(log)} characters",
        expected="no merchant token in it",
        got=f"{len(merchants)} of them",
    )


@check("SECRET-08", needs=["merchant"])
def what_else_the_logs_hold(gateway: Gateway, world: World) -> None:
    """The logs contain no agent refresh token; used merchant codes in them are recorded."""
    merchant = world.merchant
    before = merchant.last_minted() if merchant else 0
    log = _complete_flow(gateway, world)
    codes = [token.value for token in merchant.tokens("code", before)] if merchant else []

    observe(log_characters=len(log), merchant_codes_in_the_log=any(code in log for code in codes))
    found = _secret_parts(world, "refresh_token")
    _not_logged(log, found, "agent's refresh token", plain=False)


def _complete_flow(gateway: Gateway, world: World) -> str:
    """Runs a sign-in, an exchange, redemptions and related failures; returns what was logged meanwhile."""
    _earlier_logs(world)
    authorization = world.new_code()
    wrong = gateway.exchange(
        replace(authorization, code=Secret("code", changed_at_the_end(authorization.code.reveal())))
    )
    grant = world.grant()
    proxy_token = world.backend.proxy_token()
    world.backend.require_redeemed(grant, proxy_token)
    require(wrong).refused()
    indicator = grant.resource.indicator
    gateway.redeem(grant.id_token, proxy_token, indicator)
    unknown = Secret("proxy_token", changed_at_the_end(proxy_token.reveal()))
    require(gateway.redeem(grant.access_token, unknown, indicator)).refused()
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
    client = world.projects.home().proxy_client
    gateway.proxy_token(replace(client, id=f"{client.id}x"))
    return _log(world)


def _send_misplaced(gateway: Gateway, world: World, grant: Grant, token: str) -> None:
    """Sends a token in token endpoint fields for other credentials, and in headers beside them."""
    client = [("client_id", grant.agent.client_id), ("client_secret", grant.agent.client_secret.reveal())]
    bearer = ("Authorization", f"Bearer {token}")
    for grant_type, field in MISPLACED:
        gateway.token_request([("grant_type", grant_type), (field, token), *client])
    gateway.token_request([("grant_type", "refresh_token"), *client], bearer)
    gateway.token_request([("grant_type", "client_credentials"), client[0], ("client_secret", token)])
    registration = agent_wire.registration(
        agent_wire.registration_endpoint(gateway.base_url), world.agents.metadata()
    )
    gateway.wire.send("registration", replace(registration, headers=(*registration.headers, bearer)))


def _failed_refreshes(world: World) -> str:
    """Redeems while the merchant rejects one refresh and fails another; returns what was logged."""
    _earlier_logs(world)
    troubled = [failure_oracle.expiring_soon(isolated_user(world, own=True)) for _ in range(2)]
    for due, refresh in zip(troubled, ("reject", "server_error"), strict=True):
        due.alone.short_lived(refresh=refresh)
    let_expire(world)
    for due in troubled:
        # An answer that asks the backend to retry later is logged like any other.
        due.redeem_once()
    if not all(due.refreshes() for due in troubled):
        raise LeftOut("the gateway did not use the refresh token when the merchant token had expired")
    return _log(world)


def _earlier_logs(world: World) -> None:
    """Discards the logs from before this check, but keeps the JWTs in them for a later check."""
    control = _control(world)
    try:
        text = actions.logs(control)
    except ControlFailed:
        # After a long campaign the logs may exceed the size of an answer. The next ones belong to this check.
        world.worker_state.logged.lost = True
        text = actions.logs(control)
    world.worker_state.logged.note(len(text), JWT.findall(text))


def _members(token: str) -> frozenset[str] | None:
    """The names of a token's claims, which tokens of one kind have in common."""
    parsed = read(token)
    return None if parsed is None else frozenset(parsed.claims)


def _log(world: World) -> str:
    """Everything logged since the last call, read until nothing more arrives.

    An empty log is not accepted: it does not prove that nothing was logged.
    """
    control, texts = _control(world), list[str]()
    for _ in range(MOST_CALLS):
        texts.append(actions.logs(control))
        if any(texts) and not texts[-1]:
            break
        wait_for(Cause.LOG, QUIET_S)
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


def _secret_parts(world: World, kind: str) -> list[leaks.Canary]:
    """What to search for: a secret may begin with the ID of its client, which may be logged."""
    keyring = world.gateway.keyring
    known = [leaks.canary(kind, value, public=keyring.names) for value in keyring.values(kind)]
    return distinct(world, known)


def _tokens(gateway: Gateway, kind: str) -> list[leaks.Canary]:
    """What to search for: the JWT, its signature, and for an ID token also its claims (personal data)."""
    found = []
    for value in gateway.keyring.values(kind):
        found.append(leaks.canary(kind, value, public=gateway.keyring.names))
        if kind == "id_token" and value.count(".") == 2:
            found.append(leaks.Canary(kind=kind, value=value.split(".")[1]))
    return found


def _not_logged(log: str, canaries: Sequence[leaks.Canary], what: str, *, plain: bool) -> None:
    canaries = [each for each in canaries if leaks.is_distinct(each.value)]
    require.that(bool(canaries), "this flow", expected=f"a distinctive {what} to search for", got="none")
    found = leaks.CanarySet(canaries).search(log)
    if plain:
        found = [each for each in found if each.how in leaks.PLAIN]
    expect.that(
        not found,
        f"the log, {len(log)} characters",
        expected=f"no {what} in it",
        got=f"{len({each.value for each in found})} of them, written {found[0].how}" if found else "none",
    )
