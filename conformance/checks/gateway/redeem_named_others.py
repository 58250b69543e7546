"""Redemptions that also name a user, a Project or a scope: the credentials decide, and nothing else does.

A gateway that builds its query from the whole body lets any backend choose whose token it gets. Refusing such
a request is fine.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from urllib.parse import urlencode

from gateproof.conformance.checks.gateway._token_owner import expect_owner
from gateproof.conformance.checks.gateway._tokens import claims_of
from gateproof.conformance.kit.gateway import console
from gateproof.conformance.kit.gateway.gateway import Gateway
from gateproof.conformance.kit.gateway.world import World
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import LeftOut, expect
from gateproof.conformance.suite.parties import Grant
from gateproof.conformance.wire import backend as backend_wire
from gateproof.conformance.wire.exchange import Exchange
from gateproof.conformance.wire.secret import Secret

PLACES = ("body", "query", "headers")
FOR_A_USER = (
    "sub",
    "subject",
    "login",
    "login_id",
    "user",
    "user_id",
    "username",
    "preferred_username",
    "email",
)
FOR_A_PROJECT = ("project", "project_id", "projectId")
FOR_A_SCOPE = ("scope", "scopes")
SCOPE = "ext_token:read"


@check("REDEEM-12", needs=["users:2"], cases=PLACES)
def named_user_is_not_redeemed(gateway: Gateway, world: World, case: str) -> None:
    """A redemption that also names another user by login or subject does not return that user's token."""
    proxy_token = world.backend.proxy_token()
    own, other = (world.grant(user=user) for user in world.users[:2])
    world.backend.require_redeemed(own, proxy_token)
    others = world.backend.require_redeemed(other, proxy_token).member("access_token")
    for named in (other.user.login, str(claims_of(world, other).get("sub"))):
        answer = _naming(gateway, own, proxy_token, case, dict.fromkeys(FOR_A_USER, named))
        if answer.status == 200:
            expect.that(
                answer.member("access_token") != others,
                f"merchant token of a redemption whose {case} names another user",
                expected="that of the access token's user",
                got="that of the other user",
            )
            expect_owner(world, answer, own.user, own.resource)
        else:
            expect.that(
                not answer.member("access_token"),
                answer.step,
                expected="a merchant token with status 200, or none",
                got=answer.outcome(),
                exchange=answer,
            )


@check("REDEEM-05", cases=PLACES)
def named_project_does_not_help(gateway: Gateway, world: World, case: str) -> None:
    """A Proxy token of another Project does not redeem if the request also names one of the two Projects."""
    home, another = world.projects.home(), world.projects.another()
    grants = [world.grant(resource=project.resource) for project in (home, another)]
    tokens = [world.backend.proxy_token(project) for project in (home, another)]
    for grant, token in zip(grants, tokens, strict=True):
        world.backend.require_redeemed(grant, token)
    for named in (home.id, another.id):
        answer = _naming(gateway, grants[0], tokens[1], case, dict.fromkeys(FOR_A_PROJECT, named))

        expect(answer).not_granted("the merchant token", "access_token")


@check("REDEEM-08", cases=PLACES)
def named_scope_does_not_help(gateway: Gateway, world: World, case: str) -> None:
    """An access token without the scope ext_token:read does not redeem if the request names that scope."""
    agent, proxy_token = world.agents.new(), world.backend.proxy_token()
    world.backend.require_redeemed(world.grant(agent=agent), proxy_token)
    console.withhold_redemption_scope(world, agent)

    answer = _naming(gateway, world.grant(agent=agent), proxy_token, case, dict.fromkeys(FOR_A_SCOPE, SCOPE))

    expect(answer).not_granted("the merchant token", "access_token")


def _naming(
    gateway: Gateway, grant: Grant, proxy_token: Secret, place: str, named: Mapping[str, str]
) -> Exchange:
    """The right redemption with these names and values in its body, its query or headers."""
    request = backend_wire.redemption(
        gateway.base_url,
        bearer=grant.access_token,
        proxy_token=proxy_token,
        resource=grant.resource.indicator,
    )
    if place == "query":
        request = replace(request, url=f"{request.url}?{urlencode(named)}")
    elif place == "body":
        body = json.loads(request.body or b"{}") | named
        request = replace(request, body=json.dumps(body).encode())
    else:
        if not all(value.isascii() for value in named.values()):
            raise LeftOut("this name cannot be sent in a header")
        further = ((f"X-{name.replace('_', '-').title()}", value) for name, value in named.items())
        request = replace(request, headers=(*request.headers, *further))
    return replace(gateway.wire.send("redemption", request), step=f"redemption with names in its {place}")
