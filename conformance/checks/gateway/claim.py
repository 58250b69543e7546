"""The claims of the gateway access token, and what the other tokens may not be."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from conformance.check import check
from conformance.claims import beside, expect, require
from conformance.documents import keys_in, strings_in
from conformance.parties import Grant, User
from conformance.wire.jose import read, verifying
from conformance.world import AGENT_DOMAIN, AGENT_NAME, World
from reports.encodings import embedded

# Indicators that a careless gateway would put into normal form; each is to come back as it was configured.
ODD_INDICATORS = {
    "upper-case-host": "https://API.Merchant.example/v1/{unique}",
    "upper-case-scheme": "HTTPS://api.merchant.example/v1/{unique}",
    "default-port": "https://api.merchant.example:443/v1/{unique}",
    "trailing-slash": "https://api.merchant.example/v1/{unique}/",
    "no-path": "https://{unique}.merchant.example",
    "percent-encoding": "https://api.merchant.example/v1/{unique}/%7euser%2Forders",
    "dot-segments": "https://api.merchant.example/v1/./{unique}/../{unique}",
    "double-slash": "https://api.merchant.example/v1//{unique}",
    "query": "https://api.merchant.example/v1/{unique}?b=2&a=1",
    "urn": "urn:merchant:{unique}:API",
}


@check("CLAIM-01")
def iss_is_the_issuer_of_discovery(world: World) -> None:
    """`iss` is the issuer of the discovery document, character for character."""
    grant = world.grant()
    issuer = require.text(world.discovery(grant.resource).get("issuer"), "issuer in the discovery document")

    expect.equal(_claims(world, grant).get("iss"), issuer, "iss")


@check("CLAIM-02")
def aud_is_an_array_with_the_indicator(world: World) -> None:
    """`aud` is an array, and the Resource indicator is in it."""
    grant = world.grant()

    _bound_to(_claims(world, grant), grant.resource.indicator)


@check("CLAIM-02", needs=["control:create_resource"], cases=ODD_INDICATORS)
def aud_keeps_an_odd_indicator_as_it_is(world: World, case: str) -> None:
    """An indicator that is not in normal form comes back unchanged."""
    resource = world.resource(indicator=case.format(unique=world.unique()))

    _bound_to(_claims(world, world.grant(resource=resource)), resource.indicator)


@check("CLAIM-02", needs=["resources:2"])
def aud_holds_no_other_resource(world: World) -> None:
    """A token for one Resource is no token for another."""
    one, other = world.two_resources()
    # A gateway that collects indicators has to have met the other one first.
    world.grant(resource=other)
    audience = _claims(world, world.grant(resource=one)).get("aud")
    held = audience if isinstance(audience, list) else []
    require.that(
        one.indicator in held,
        "aud",
        expected="the indicator of the Resource that was asked for",
        got=audience,
    )

    expect.that(other.indicator not in held, "aud", expected=f"no {other.indicator}", got=audience)


@check("CLAIM-03")
def sub_is_an_opaque_id_with_its_prefix(world: World) -> None:
    """`sub` is `sub_` and something behind it that does not tell who the user is."""
    grant = world.grant()
    sub = expect.text(_claims(world, grant).get("sub"), "sub")

    expect.that(sub.startswith("sub_") and len(sub) > 4, "sub", expected="sub_ and an identifier", got=sub)
    _tells_nothing(sub, grant.user, "sub")


@check("CLAIM-03")
def sub_is_stable_for_a_user(world: World) -> None:
    """The same user has the same `sub` in the Project, through whichever agent."""
    subs = [_claims(world, world.grant()).get("sub") for _ in range(2)]
    require.text(subs[0], "sub")

    expect.equal(subs[1], subs[0], "sub of the same user in a second sign-in")


@check("CLAIM-03", needs=["users:2"])
def sub_differs_between_users(world: World) -> None:
    """Two users do not share a `sub`."""
    subs = [_claims(world, world.grant(user=user)).get("sub") for user in world.users[:2]]
    require.text(subs[0], "sub")

    expect.that(
        subs[0] != subs[1], "sub of the second user", expected="another than the first's", got=subs[1]
    )


@check("CLAIM-04")
def exp_is_a_number_in_the_future(world: World) -> None:
    """`exp` is a numeric date, and the token has not expired when it is handed out."""
    grant = world.grant()
    exp = _claims(world, grant).get("exp")
    now = world.target_time(grant.answer)

    seconds = exp if isinstance(exp, int | float) and not isinstance(exp, bool) else None
    expect.that(seconds is not None, "exp", expected="a number", got=exp)
    expect.that((seconds or 0) > now, "exp", expected=f"later than {now:.0f}", got=exp)


@check("CLAIM-05")
def acr_is_of_level_2(world: World) -> None:
    """`ext.acr` is a context class of assurance level 2."""
    acr = _ext(world, world.grant()).get("acr")

    good = isinstance(acr, str) and acr.endswith(":al2") and len(acr) > len(":al2")
    expect.that(good, "ext.acr", expected="a name, then :al2", got=acr)


@check("CLAIM-06")
def amr_is_an_array_of_strings(world: World) -> None:
    """`ext.amr` lists authentication methods; which ones is open."""
    amr = _ext(world, world.grant()).get("amr")

    good = isinstance(amr, list) and all(isinstance(method, str) for method in amr)
    expect.that(good, "ext.amr", expected="an array of strings", got=amr)


@check("CLAIM-07")
def agent_is_named_by_its_client_id(world: World) -> None:
    """`ext.agent` holds the client ID of the very agent that the token was issued to."""
    for grant in (world.grant(), world.grant()):
        agent = _agent(world, grant)
        expect.that(
            any(grant.agent.client_id in text for text in strings_in(agent)),
            "ext.agent",
            expected=f"the client ID {grant.agent.client_id}",
            got=f"members {', '.join(keys_in(agent))}",
        )


# How a key may be called, or what value may stand, for each of the three.
AGENT_FACTS = {
    "domain": ("domain", AGENT_DOMAIN),
    "name": ("name", AGENT_NAME),
    "verifications": ("verif",),
}


@check("CLAIM-07", cases=AGENT_FACTS)
def agent_carries(world: World, case: tuple[str, ...]) -> None:
    """`ext.agent` says domain, name and verifications; how it is built inside is open."""
    agent = _agent(world, world.grant())
    texts = [text.lower() for text in (*keys_in(agent), *strings_in(agent))]

    expect.that(
        any(word.lower() in text for word in case for text in texts),
        "ext.agent",
        expected=f"{case[0]}, as a key or a value",
        got=f"members {', '.join(keys_in(agent))}",
    )


@check("CLAIM-08")
def project_id_is_the_resources_project(world: World) -> None:
    """`ext.project_id` is the Project of the Resource."""
    grant = world.grant()

    expect.equal(_ext(world, grant).get("project_id"), grant.resource.project_id, "ext.project_id")


@check("CLAIM-08", needs=["two-projects"])
def project_id_follows_the_resource(world: World) -> None:
    """Tokens for the Resources of two Projects, one after the other, name each its own Project."""
    for project in (world.home(), world.project()):
        grant = world.grant(resource=project.resource)
        expect.equal(_ext(world, grant).get("project_id"), project.id, "ext.project_id")


@check("CLAIM-09")
def id_token_is_another_jwt(world: World) -> None:
    """The ID token is not the access token under a second name."""
    grant = world.grant()
    access, identity = (read(token.reveal()) for token in (grant.access_token, grant.id_token))
    require.that(access is not None, "gateway access token", expected="a JWT", got="something else")

    expect.that(identity is not None, "ID token", expected="a JWT", got="something else")
    expect.that(
        identity is not None and access is not None and identity.claims != access.claims,
        "ID token",
        expected="claims of its own",
        got="the claims of the access token",
    )


@check("CLAIM-10")
def id_token_is_not_meant_for_the_resource(world: World) -> None:
    """The ID token's audience does not hold the indicator, so it cannot pass for an access token."""
    grant = world.grant()
    audience = world.jwt(grant.id_token, "ID token").claims.get("aud")
    held = audience if isinstance(audience, list) else [audience]
    require.that(
        grant.resource.indicator in str(_claims(world, grant).get("aud")),
        "aud of the access token",
        expected="the Resource indicator",
        got="not the indicator",
    )

    expect.that(
        grant.resource.indicator not in held,
        "aud of the ID token",
        expected="no Resource indicator",
        got=audience,
    )


@check("CLAIM-11")
def id_token_verifies_and_names_the_agent(world: World) -> None:
    """The ID token is signed by the core and meant for the agent."""
    grant = world.grant()
    audience = world.jwt(grant.id_token, "ID token").claims.get("aud")

    expect.that(
        bool(verifying(grant.id_token.reveal(), world.core_keys(grant.resource))),
        "ID token",
        expected="a signature that verifies with the core key set",
        got="no key verifies it",
    )
    held = audience if isinstance(audience, list) else [audience]
    expect.that(grant.agent.client_id in held, "aud of the ID token", expected="the client ID", got=audience)


@check("CLAIM-12")
def refresh_token_is_opaque(world: World) -> None:
    """The agent's refresh token is no JWT and does not tell who the user is."""
    grant = world.grant()
    token = grant.refresh_token.reveal()

    expect.that(read(token) is None, "refresh token", expected="an opaque string", got="a JWT")
    _tells_nothing(token, grant.user, "refresh token")


def _claims(world: World, grant: Grant) -> Mapping[str, Any]:
    claims = world.jwt(grant.access_token, "gateway access token").claims
    beside(claims=claims)
    return claims


def _ext(world: World, grant: Grant) -> Mapping[str, Any]:
    ext = _claims(world, grant).get("ext")
    return ext if isinstance(ext, dict) else {}


def _agent(world: World, grant: Grant) -> Mapping[str, Any]:
    agent = _ext(world, grant).get("agent")
    expect.that(isinstance(agent, dict), "ext.agent", expected="an object", got=type(agent).__name__)
    return agent if isinstance(agent, dict) else {}


def _bound_to(claims: Mapping[str, Any], indicator: str) -> None:
    audience = claims.get("aud")
    expect.that(isinstance(audience, list), "aud", expected="an array", got=audience)
    expect.that(indicator in (audience or ()), "aud", expected=f"{indicator} in it, unchanged", got=audience)


def _tells_nothing(token: str, user: User, what: str) -> None:
    """The token holds no login or e-mail of the user: not in plain, not in base64, not in hex."""
    local_part = user.login.partition("@")[0]
    names = {user.login, user.login.lower()} | ({local_part} if len(local_part) > 4 else set())
    told = any(form.lower() in token.lower() for name in names for form in (name, name.encode().hex()))
    told = told or any(form in token for name in names for form in embedded(name) if len(form) > 5)
    expect.that(
        not told, what, expected="nothing that tells the user's login", got="the login, plain or encoded"
    )
