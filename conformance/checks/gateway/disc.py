"""The discovery document, from which agents read the endpoints."""

from __future__ import annotations

import secrets
from contextlib import suppress
from dataclasses import replace

from gateproof.conformance.kit.gateway.gateway import Gateway
from gateproof.conformance.kit.gateway.world import World
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import LeftOut, Unavailable, expect, observe, require
from gateproof.conformance.suite.parties import Resource
from gateproof.conformance.wire.agent import (
    authorization_endpoint,
    discovery_url,
    get,
    registration_endpoint,
    token_endpoint,
)
from gateproof.conformance.wire.documents import keys_in, same_url, strings_in

# Headers in which a proxy forwards the host that its clients requested; a client can send them, too.
HOST_HEADERS = {
    "x-forwarded-host": ("X-Forwarded-Host", "evil.example"),
    "x-forwarded-proto": ("X-Forwarded-Proto", "http"),
    "x-forwarded-prefix": ("X-Forwarded-Prefix", "/evil"),
    "forwarded": ("Forwarded", "host=evil.example;proto=http"),
}


@check("DISC-01")
def answers_200_with_a_json_object(gateway: Gateway, world: World) -> None:
    """The discovery document of a Resource is served with 200 as a JSON object."""
    _is_there(gateway, world.projects.home().resource)


@check("DISC-01", needs=["resources:2"])
def answers_for_every_resource_of_a_project(gateway: Gateway, world: World) -> None:
    """The discovery document of a second Resource in the Project is served as well."""
    for resource in world.projects.two_resources():
        _is_there(gateway, resource)


@check("DISC-01", needs=["two-projects"])
def answers_for_a_resource_of_another_project(gateway: Gateway, world: World) -> None:
    """The discovery document of a Resource in another Project is served as well."""
    home = world.projects.home()

    for resource in (home.resource, world.projects.another().resource):
        _is_there(gateway, resource)


@check("DISC-02")
def issuer_is_a_non_empty_string(world: World) -> None:
    """`issuer` is a non-empty string; its value is the gateway's choice."""
    document = world.discovery(world.projects.home().resource)

    expect.text(document.get("issuer"), "issuer in the discovery document")


@check("DISC-02", needs=["resources:2"])
def issuer_is_the_same_for_every_resource(world: World) -> None:
    """`issuer` is the same for two Resources of a Project."""
    one, other = world.projects.two_resources()
    issuer = require.text(world.discovery(one).get("issuer"), "issuer for the first Resource")

    expect.equal(world.discovery(other).get("issuer"), issuer, "issuer for the second Resource")


@check("DISC-02", needs=["two-projects"])
def issuer_is_the_same_in_another_project(world: World) -> None:
    """`issuer` is the same in two Projects."""
    issuer = require.text(
        world.discovery(world.projects.home().resource).get("issuer"), "issuer for the first Project"
    )
    other = world.discovery(world.projects.another().resource)

    expect.equal(other.get("issuer"), issuer, "issuer for a Resource of another Project")


@check("DISC-03")
def authorization_endpoint_belongs_to_the_resource(gateway: Gateway, world: World) -> None:
    """`authorization_endpoint` is below the Resource's own path."""
    resource = world.projects.home().resource

    _names(
        world.discovery(resource).get("authorization_endpoint"),
        "authorization_endpoint",
        authorization_endpoint(gateway.base_url, resource.id),
    )


@check("DISC-03", needs=["resources:2"])
def authorization_endpoint_differs_with_the_resource(gateway: Gateway, world: World) -> None:
    """`authorization_endpoint` of a second Resource is that Resource's own."""
    for resource in world.projects.two_resources():
        _names(
            world.discovery(resource).get("authorization_endpoint"),
            "authorization_endpoint",
            authorization_endpoint(gateway.base_url, resource.id),
        )


@check("DISC-03", cases=HOST_HEADERS)
def one_clients_idea_of_the_host_stays_its_own(gateway: Gateway, world: World, case: tuple[str, str]) -> None:
    """After a client sent another host in a header, the document is unchanged for other clients.

    The answer to that client itself is not judged: a gateway may be configured to trust such a header.
    """
    resource, beside = _less_known(world), _another(world)
    url = discovery_url(gateway.base_url, resource.id)
    for _ in range(2):
        gateway.wire.send(f"discovery with {case[0]}", replace(get(url), headers=(*get(url).headers, case)))

    after, other = world.discovery(resource), world.discovery(beside)

    _names(
        after.get("authorization_endpoint"),
        "authorization_endpoint",
        authorization_endpoint(gateway.base_url, resource.id),
    )
    for name in ("issuer", "token_endpoint", "jwks_uri"):
        value, expected = after.get(name), other.get(name)
        if value != expected:
            # An address below the Resource's own path breaks another rule.
            value, expected = _without_the_id(value, resource), _without_the_id(expected, beside)
        expect.equal(value, expected, name)


@check("DISC-04")
def token_endpoint_is_on_the_core_host(gateway: Gateway, world: World) -> None:
    """`token_endpoint` is the token endpoint of the core host."""
    document = world.discovery(world.projects.home().resource)

    _names(document.get("token_endpoint"), "token_endpoint", token_endpoint(gateway.core_url))


@check("DISC-04", needs=["resources:2"])
def token_endpoint_is_the_same_for_every_resource(gateway: Gateway, world: World) -> None:
    """`token_endpoint` of a second Resource is that of the core host, too."""
    for resource in world.projects.two_resources():
        document = world.discovery(resource)
        _names(document.get("token_endpoint"), "token_endpoint", token_endpoint(gateway.core_url))


@check("DISC-05")
def jwks_uri_is_not_the_resources_own(world: World) -> None:
    """`jwks_uri` is not the Resource's own key set, which is for other signatures."""
    resource = world.projects.home().resource
    jwks_uri = expect.text(world.discovery(resource).get("jwks_uri"), "jwks_uri in the discovery document")

    expect.that(
        not same_url(jwks_uri, resource.jwks_uri),
        "jwks_uri",
        expected="an address other than the Resource's own JWKS URI",
        got=jwks_uri,
    )


@check("DISC-05", needs=["resources:2"])
def jwks_uri_is_the_same_for_every_resource(world: World) -> None:
    """`jwks_uri` names the same key set for two Resources."""
    _one_key_set(world, *world.projects.two_resources())


@check("DISC-05", needs=["two-projects"])
def jwks_uri_is_the_same_in_another_project(world: World) -> None:
    """`jwks_uri` names the same key set in two Projects."""
    _one_key_set(world, world.projects.home().resource, world.projects.another().resource)


@check("DISC-06")
def registration_endpoint_is_announced(gateway: Gateway, world: World) -> None:
    """The address of the registration endpoint is in the document, under any name."""
    document = world.discovery(world.projects.home().resource)
    endpoint = registration_endpoint(gateway.base_url)

    expect.that(
        any(same_url(text, endpoint) for text in strings_in(document)),
        "the discovery document",
        expected=f"the address {endpoint} in a member of any name",
        got=f"members {', '.join(sorted(keys_in(document)))}",
    )


@check("DISC-07")
def what_else_discovery_answers(gateway: Gateway, world: World) -> None:
    """Records the answer for an unknown Resource, and fields that the specification does not name."""
    unknown = gateway.fetch(
        discovery_url(gateway.base_url, f"res-{secrets.token_hex(8)}"), "discovery of an unknown Resource"
    )
    document = world.discovery(world.projects.home().resource)
    known = {"issuer", "authorization_endpoint", "token_endpoint", "jwks_uri"}

    observe(
        unknown_resource_status=unknown.status,
        further_fields=", ".join(sorted(set(document) - known)) or "none",
    )


def _is_there(gateway: Gateway, resource: Resource) -> None:
    answer = gateway.discovery(resource)
    expect(answer).status(200)
    expect(answer).json_object()


def _less_known(world: World) -> Resource:
    """A Resource whose document is probably not cached yet, if there is one: a cache would hide a change."""
    with suppress(Unavailable, LeftOut):
        return world.projects.resource(indicator=f"https://api.merchant.example/{world.unique()}")
    with suppress(Unavailable):
        return world.projects.another().resource
    return world.projects.home().resource


def _another(world: World) -> Resource:
    """The second Resource of a Project if there is one, and else the first."""
    with suppress(Unavailable, LeftOut):
        return world.projects.two_resources()[1]
    return world.projects.home().resource


def _without_the_id(value: object, resource: Resource) -> object:
    return value.replace(resource.id, "{resource_id}") if isinstance(value, str) else value


def _one_key_set(world: World, one: Resource, other: Resource) -> None:
    first = require.text(world.discovery(one).get("jwks_uri"), "jwks_uri for the first Resource")
    second = world.discovery(other).get("jwks_uri")

    expect.that(
        same_url(second, first),
        "jwks_uri for the second Resource",
        expected=f"the same as {first}",
        got=second,
    )


def _names(found: object, what: str, wanted: str) -> None:
    expect.that(same_url(found, wanted), what, expected=wanted, got=found)
