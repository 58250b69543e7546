"""Members of a registration that make other systems less strict with redirect URIs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from gateproof.conformance.checks.gateway._visits import no_code
from gateproof.conformance.kit.gateway.gateway import CALLBACK, Gateway
from gateproof.conformance.kit.gateway.world import World
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import LeftOut, expect

NATIVE = {"application_type": "native"}
LOOPBACK = "http://127.0.0.1:8080/callback"
PLAIN = "http://agent.example/callback"


@dataclass(frozen=True, slots=True)
class Loosened:
    """Additional members of a registration, and redirect URIs of which one is not HTTPS."""

    members: dict[str, Any]
    uris: tuple[str, ...]


# application_type is from OpenID Connect Registration; the others are from products and frameworks.
LOOSENED = {
    "native-loopback": Loosened(NATIVE, (LOOPBACK,)),
    "native-localhost": Loosened(NATIVE, ("http://localhost:8080/callback",)),
    "native-ipv6-loopback": Loosened(NATIVE, ("http://[::1]:8080/callback",)),
    "native-loopback-without-port": Loosened(NATIVE, ("http://127.0.0.1/callback",)),
    "native-custom-scheme": Loosened(NATIVE, ("com.example.agent:/callback",)),
    "native-custom-scheme-slashes": Loosened(NATIVE, ("agent://callback",)),
    "native-out-of-band": Loosened(NATIVE, ("urn:ietf:wg:oauth:2.0:oob",)),
    "native-http": Loosened(NATIVE, (PLAIN,)),
    "native-loopback-behind-https": Loosened(NATIVE, (CALLBACK, LOOPBACK)),
    "native-custom-scheme-behind-https": Loosened(NATIVE, (CALLBACK, "com.example.agent:/callback")),
    "native-in-upper-case": Loosened({"application_type": "NATIVE"}, (LOOPBACK,)),
    "browser-application": Loosened({"application_type": "browser"}, ("http://localhost:8080/callback",)),
    "app-type-native": Loosened({"app_type": "native"}, (LOOPBACK,)),
    "client-type-public": Loosened({"client_type": "public"}, (LOOPBACK,)),
    "public-client": Loosened({"public_client": True}, (LOOPBACK,)),
    "environment-development": Loosened({"environment": "development"}, (PLAIN,)),
    "development-loopback": Loosened({"environment": "development"}, (LOOPBACK,)),
    "test-client": Loosened({"test": True, "debug": True}, (PLAIN,)),
    "insecure-allowed": Loosened({"allow_insecure_redirect_uris": True, "require_https": False}, (PLAIN,)),
}


@check("REG-06", cases=LOOSENED)
def other_members_do_not_loosen_the_scheme(gateway: Gateway, world: World, case: Loosened) -> None:
    """A redirect URI that is not HTTPS is refused, whatever other members the registration has.

    The positive twin has the same members with an HTTPS URI. A gateway may refuse it as well: it need not
    support these members, and OpenID Connect restricts HTTPS URIs of native applications.
    """
    good = world.agents.metadata()
    world.agents.accepted(gateway.register(good))
    twin = gateway.register(good | case.members)

    answer = gateway.register(good | case.members | {"redirect_uris": list(case.uris)})

    expect(answer).not_granted("a client", "client_id", "client_secret")
    if twin.status in range(400, 500):
        raise LeftOut(f"the gateway does not accept a registration with {', '.join(case.members)}")
    world.agents.accepted(twin)


@check("REG-06")
def redirect_uri_in_another_member_must_be_https(gateway: Gateway, world: World) -> None:
    """A URI that is not HTTPS, sent in another member than redirect_uris, is refused or gets no code.

    The specification names redirect_uris only, so the gateway may ignore the others.
    """
    world = world.in_one_browser()
    good = world.agents.metadata()
    world.new_code(agent=world.agents.of(gateway.register(good)))
    named = {"redirect_uri": PLAIN, "native_redirect_uris": [PLAIN], "callback_urls": [PLAIN]}
    registered = gateway.register(good | named)
    if registered.status in range(400, 500):
        expect(registered).not_granted("a client", "client_id", "client_secret")
        return

    agent = world.agents.of(registered)
    visit = world.gateway.visit(world.attempt(agent, redirect_uri=PLAIN), wherever=True)

    no_code(visit, f"authorization with the redirect URI {PLAIN}, which is in no redirect_uris")
