"""A registration that names its redirect URIs twice, once in another spelling of the member's name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from gateproof.conformance.checks.gateway._visits import no_code
from gateproof.conformance.kit.gateway.gateway import CALLBACK, Gateway
from gateproof.conformance.kit.gateway.world import World
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import LeftOut, expect

PLAIN = "http://agent.example/callback"


@dataclass(frozen=True, slots=True)
class Spelled:
    """Another spelling of redirect_uris, and whether it comes before the usual one."""

    name: str
    first: bool = False

    def beside(self, metadata: Mapping[str, Any], uri: str) -> dict[str, Any]:
        """The same metadata, and this URI in the member of the other name."""
        other = {self.name: [uri]}
        return other | dict(metadata) if self.first else dict(metadata) | other


# Some JSON libraries ignore the case of names by default, and use the last of several equal ones.
SPELLED = {
    "capitals-last": Spelled("Redirect_Uris"),
    "capitals-first": Spelled("Redirect_Uris", first=True),
    "upper-case-last": Spelled("REDIRECT_URIS"),
    "upper-case-first": Spelled("REDIRECT_URIS", first=True),
}


@check("REG-06", cases=SPELLED)
def redirect_uri_under_another_spelling_must_be_https(gateway: Gateway, world: World, case: Spelled) -> None:
    """A URI that is not HTTPS, sent in redirect_uris in another case, is refused or not registered.

    The other URI, in redirect_uris, is HTTPS. A gateway may ignore the other spelling. In the positive twin
    both spellings have the same HTTPS URI.
    """
    world = world.in_one_browser()
    good = world.agents.metadata()
    twin = gateway.register(case.beside(good, CALLBACK))
    if twin.status in range(400, 500):
        raise LeftOut(f"the gateway does not accept a registration with the member {case.name}")
    world.new_code(agent=world.agents.of(twin))

    registered = gateway.register(case.beside(good, PLAIN))
    if registered.status in range(400, 500):
        expect(registered).not_granted("a client", "client_id", "client_secret")
        return
    agent = world.agents.of(registered)
    uris = registered.member("redirect_uris")
    expect.that(
        not isinstance(uris, list) or PLAIN not in uris,
        f"redirect_uris in the answer to a registration that also has {case.name}",
        expected=f"no {PLAIN}",
        got=uris,
        exchange=registered,
    )
    visit = world.gateway.visit(world.attempt(agent, redirect_uri=PLAIN), wherever=True)
    no_code(visit, f"authorization with the redirect URI {PLAIN}, registered as {case.name}")
