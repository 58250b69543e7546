"""Proxy clients: which credentials are valid, and how long."""

from __future__ import annotations

import base64
import secrets
from collections.abc import Callable
from dataclasses import replace

from gateproof.conformance.kit.gateway import console
from gateproof.conformance.kit.gateway.gateway import Gateway
from gateproof.conformance.kit.gateway.world import World
from gateproof.conformance.kit.inputs.near_tokens import (
    changed,
    changed_at_the_end,
    cut_short,
    in_other_case,
    longer,
    wildcarded,
    with_blank_before,
    with_blank_behind,
)
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import LeftOut, Unavailable, expect, observe, require, rule_requires
from gateproof.conformance.suite.parties import ProxyClient
from gateproof.conformance.targets.control import ControlFailed
from gateproof.conformance.wire import agent as agent_wire
from gateproof.conformance.wire.exchange import Exchange
from gateproof.conformance.wire.secret import Secret

# Each function makes a wrong pair from a valid ID and secret; None if a part has no such value.
WRONG_CREDENTIALS: dict[str, Callable[[str, str], tuple[str | None, str | None]]] = {
    "made-up-secret": lambda own, _: (own, secrets.token_urlsafe(32)),
    "first-character-of-the-secret": lambda own, secret: (own, changed(secret, 0)),
    "end-of-the-secret": lambda own, secret: (own, changed_at_the_end(secret)),
    "secret-cut-short": lambda own, secret: (own, cut_short(secret)),
    "first-half-of-the-secret": lambda own, secret: (own, secret[: len(secret) // 2]),
    "secret-and-more": lambda own, secret: (own, longer(secret)),
    "secret-in-other-case": lambda own, secret: (own, in_other_case(secret)),
    "blank-before-the-secret": lambda own, secret: (own, f" {secret}"),
    "blank-behind-the-secret": lambda own, secret: (own, f"{secret} "),
    "blanks-around-the-secret": lambda own, secret: (own, f"  {secret}  "),
    "colon-and-more-behind-the-secret": lambda own, secret: (own, f"{secret}:more"),
    "made-up-id": lambda own, secret: (f"{own[:3]}{secrets.token_hex(12)}", secret),
    "id-cut-short": lambda own, secret: (cut_short(own), secret),
    "id-and-more": lambda own, secret: (longer(own), secret),
    # Databases with a case-insensitive collation, and frameworks that trim, accept these.
    "id-in-other-case": lambda own, secret: (in_other_case(own), secret),
    "blank-before-the-id": lambda own, secret: (with_blank_before(own), secret),
    "blank-behind-the-id": lambda own, secret: (with_blank_behind(own), secret),
    # Wildcards of databases, regular expressions and shell patterns.
    "underscore-in-the-id": lambda own, secret: (wildcarded(own, "_"), secret),
    "full-stop-in-the-id": lambda own, secret: (wildcarded(own, "."), secret),
    "star-in-the-id": lambda own, secret: (wildcarded(own, "*"), secret),
}


MORE_CLIENTS = 4


def _basic(pair: str) -> tuple[str, str]:
    return "Authorization", "Basic " + base64.b64encode(pair.encode()).decode()


# Authorization headers without a valid pair of ID and secret.
MALFORMED: dict[str, Callable[[str, str], tuple[tuple[str, str], ...]]] = {
    "no-credentials": lambda _own, _secret: (),
    "empty-secret": lambda own, _: (_basic(f"{own}:"),),
    "empty-id": lambda _, secret: (_basic(f":{secret}"),),
    "both-empty": lambda _own, _secret: (_basic(":"),),
    "no-colon": lambda own, _: (_basic(own),),
    # A server that form-decodes the parts of the pair (RFC 6749 section 2.3.1) cannot decode the first.
    "wildcard-as-id": lambda _, secret: (_basic(f"%:{secret}"),),
    "wildcard-as-id-encoded": lambda _, secret: (_basic(f"%25:{secret}"),),
    "swapped": lambda own, secret: (_basic(f"{secret}:{own}"),),
    "id-twice": lambda own, _: (_basic(f"{own}:{own}"),),
    # RFC 7617 forbids control characters in a pair; the server chooses the encoding of the others.
    "tab-behind-the-secret": lambda own, secret: (_basic(f"{own}:{secret}\t"),),
    "line-end-behind-the-secret": lambda own, secret: (_basic(f"{own}:{secret}\n"),),
    "nul-behind-the-secret": lambda own, secret: (_basic(f"{own}:{secret}\0"),),
    "no-break-space-behind-the-secret": lambda own, secret: (_basic(f"{own}:{secret}\u00a0"),),
    "not-base64": lambda own, _: (("Authorization", f"Basic {own}!"),),
    "nothing-behind-the-scheme": lambda _own, _secret: (("Authorization", "Basic"),),
    "secret-as-bearer": lambda _, secret: (("Authorization", f"Bearer {secret}"),),
}


@check("PROXY-01", needs=["two-projects"])
def client_of_another_project_gets_a_token_too(gateway: Gateway, world: World) -> None:
    """The Proxy clients of two Projects each get a token."""
    for project in (world.projects.home(), world.projects.another()):
        answer = gateway.proxy_token(project.proxy_client)
        expect(answer).status(200)
        expect.text(answer.member("access_token"), "access_token")


@check("PROXY-03", cases=WRONG_CREDENTIALS)
def wrong_credentials_get_401(
    gateway: Gateway, world: World, case: Callable[[str, str], tuple[str | None, str | None]]
) -> None:
    """A Proxy token request with a wrong ID or a wrong secret gets 401 and no token."""
    client = _working_client(gateway, world)
    client_id, wrong = case(client.id, client.secret.reveal())
    if client_id is None or wrong is None:
        raise LeftOut("a change of this kind may mean nothing in these credentials")
    other = replace(client, id=client_id, secret=gateway.keyring.secret("proxy_client_secret", wrong))

    answer = gateway.proxy_token(other)
    if answer.status == 400:
        # A gateway that form-decodes the pair may find one of the two encodings malformed.
        answer = _asked(gateway, gateway.spelling.other().basic(client_id, wrong))

    _unauthorized(answer)


@check("PROXY-03", needs=["two-projects"])
def secret_of_another_projects_client_gets_401(gateway: Gateway, world: World) -> None:
    """A Proxy client's ID with the secret of another Project's client gets 401."""
    client, other = _working_client(gateway, world), world.projects.another().proxy_client
    require(gateway.proxy_token(other)).status(200)

    _unauthorized(gateway.proxy_token(replace(client, secret=other.secret)))


@check("PROXY-03")
def secret_of_a_client_beside_it_gets_401(gateway: Gateway, world: World) -> None:
    """A Proxy client's ID with the secret of another client of the same Project gets 401."""
    project = world.projects.own_or_home()
    try:
        other = console.second_proxy_client(world, project)
    except Unavailable as missing:
        raise LeftOut(missing.reason) from missing
    for client in (project.proxy_client, other):
        require(gateway.proxy_token(client)).status(200)

    _unauthorized(gateway.proxy_token(replace(project.proxy_client, secret=other.secret)))


@check("PROXY-03", cases=MALFORMED)
def malformed_credentials_get_no_token(
    gateway: Gateway, world: World, case: Callable[[str, str], tuple[tuple[str, str], ...]]
) -> None:
    """A Proxy token request with missing or malformed credentials is refused with any 4xx."""
    client = _working_client(gateway, world)

    headers = case(client.id, client.secret.reveal())

    answer = _asked(gateway, *headers)

    expect(answer).not_granted("a Proxy token", "access_token")


@check("PROXY-04")
def revoked_client_gets_401(gateway: Gateway, world: World) -> None:
    """A revoked Proxy client gets 401 for credentials that worked before.

    If none can be created and revoked, a client revoked before the run is tested; another one must work.
    """
    try:
        _, client = world.projects.with_new_client()
        require(gateway.proxy_token(client)).status(200)
        console.revoke(world, client)
    except Unavailable:
        _working_client(gateway, world)
        client = console.revoked_proxy_client(world)

    _unauthorized(gateway.proxy_token(client))


@check("PROXY-05")
def several_clients_of_a_project_work(gateway: Gateway, world: World) -> None:
    """Two Proxy clients of a Project both get tokens, which redeem for the same user."""
    project = world.projects.own_or_home()
    first, grant = project.proxy_client, world.grant(resource=project.resource)
    world.backend.require_redeemed(grant, world.backend.proxy_token(project))
    second = console.second_proxy_client(world, project)

    for client in (second, first):
        asked = gateway.proxy_token(client)
        expect(asked).status(200)
        expect(world.backend.redeem_once_provisioned(grant, _token(gateway, asked))).status(200)


@check("PROXY-05", needs=["control:create_proxy_client"])
def new_clients_push_no_older_one_out(gateway: Gateway, world: World) -> None:
    """After more Proxy clients are created in a Project, the first one and the new ones work.

    A gateway may limit the number of clients of a Project; it must then refuse to create another.
    """
    project = world.projects.own_or_home()
    _token(gateway, require(gateway.proxy_token(project.proxy_client)).status(200))
    for made in range(MORE_CLIENTS):
        try:
            newer = console.new_proxy_client(world, project)
        except ControlFailed:
            if not made:
                raise
            observe(clients=made + 1)
            break
        with rule_requires():
            _token(gateway, require(gateway.proxy_token(newer)).status(200))

    with rule_requires():
        _token(gateway, require(gateway.proxy_token(project.proxy_client)).status(200))


@check("PROXY-05", needs=["control:create_proxy_client", "control:revoke_proxy_client"])
def revoking_one_leaves_the_others(gateway: Gateway, world: World) -> None:
    """After one Proxy client is revoked, old and new tokens of the Project's other client still redeem."""
    project, leaving = world.projects.with_new_client()
    staying = project.proxy_client
    require(gateway.proxy_token(leaving)).status(200)
    grant = world.grant(resource=project.resource)
    token = _token(gateway, require(gateway.proxy_token(staying)).status(200))
    world.backend.require_redeemed(grant, token)
    console.revoke(world, leaving)

    expect(world.backend.redeem_once_provisioned(grant, token)).status(200)
    fresh = gateway.proxy_token(staying)
    expect(fresh).status(200)
    expect(world.backend.redeem_once_provisioned(grant, _token(gateway, fresh))).status(200)


def _working_client(gateway: Gateway, world: World) -> ProxyClient:
    """A Proxy client that gets a token in this check; a new one if the run can create Projects.

    A gateway may lock a client after several wrong secrets.
    """
    project = world.projects.home()
    client = project.proxy_client
    if world.projects.pool.created_by_run(project.id):
        _, client = world.projects.with_new_client()
    require(gateway.proxy_token(client)).status(200)
    return client


def _asked(gateway: Gateway, *headers: tuple[str, str]) -> Exchange:
    """A Proxy token request with these headers in place of its credentials."""
    endpoint = agent_wire.token_endpoint(gateway.core_url)
    request = agent_wire.form_post(endpoint, [("grant_type", "client_credentials")], *headers)
    return gateway.wire.send("Proxy token request", request)


def _unauthorized(answer: Exchange) -> None:
    expect(answer).status(401)
    expect(answer).not_granted("a Proxy token", "access_token")


def _token(gateway: Gateway, answer: Exchange) -> Secret:
    token = require.text(answer.member("access_token"), "access_token of the Proxy token request")
    return gateway.keyring.secret("proxy_token", token)
