"""Redirect URIs that must be refused at registration."""

from __future__ import annotations

from gateproof.conformance.checks.gateway._visits import no_code
from gateproof.conformance.kit.gateway.gateway import CALLBACK, Gateway
from gateproof.conformance.kit.gateway.world import World
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import LeftOut, expect, require

OTHER = "https://agent.example/other"
BAD_URIS = {
    "http": "http://agent.example/callback",
    "http-upper-case": "HTTP://agent.example/callback",
    "http-localhost": "http://localhost/callback",
    "http-localhost-port": "http://localhost:8080/callback",
    "http-below-localhost": "http://agent.localhost:8080/callback",
    "http-127.0.0.1": "http://127.0.0.1:8080/callback",
    "http-ipv6-loopback": "http://[::1]:8080/callback",
    "http-with-https-in-path": "http://agent.example/https://agent.example/callback",
    "http-with-https-in-user": "http://https:x@agent.example/callback",
    "http-port-443": "http://agent.example:443/callback",
    "custom-scheme": "com.example.agent:/callback",
    "custom-scheme-slashes": "agent://callback",
    "scheme-that-begins-with-https": "httpsx://agent.example/callback",
    "scheme-that-ends-with-https": "xhttps://agent.example/callback",
    "scheme-with-plus": "https+agent://agent.example/callback",
    "javascript": "javascript:alert(1)",
    "javascript-that-names-https": "javascript://agent.example/%0aalert('https://')",
    "javascript-before-a-line-of-https": "javascript:alert(1)//\nhttps://agent.example/callback",
    "http-before-a-line-of-https": "http://agent.example/\nhttps://agent.example/callback",
    "data": "data:text/html,<p>https://agent.example</p>",
    "file": "file:///tmp/callback",
    "ftp": "ftp://agent.example/callback",
    "wss": "wss://agent.example/callback",
    "scheme-relative": "//agent.example/callback",
    "relative": "/callback",
    "no-scheme": "agent.example/callback",
    "out-of-band": "urn:ietf:wg:oauth:2.0:oob",
}

MIXED = {
    "bad-last": [CALLBACK, "http://agent.example/callback"],
    "bad-first": ["http://agent.example/callback", CALLBACK],
    "bad-between": [CALLBACK, "http://localhost/callback", OTHER],
    "custom-scheme-last": [CALLBACK, "agent://callback"],
    "bad-third": [CALLBACK, OTHER, "http://agent.example/third", f"{CALLBACK}/fourth"],
}

# So many redirect URIs that a gateway may check only the first ones.
MANY = [f"{CALLBACK}/{number}" for number in range(12)]


@check("REG-06", cases=BAD_URIS)
def redirect_uri_must_be_https(gateway: Gateway, world: World, case: str) -> None:
    """A redirect URI with a scheme other than https is refused, and no client is created."""
    world.agents.accepted(gateway.register(world.agents.metadata()))

    answer = gateway.register(world.agents.metadata(redirect_uris=[case]))

    expect(answer).not_granted("a client", "client_id", "client_secret")


@check("REG-06")
def bad_redirect_uri_at_the_end_of_many_is_seen(gateway: Gateway, world: World) -> None:
    """A bad redirect URI is refused also as the last one of twelve."""
    if gateway.register(world.agents.metadata(redirect_uris=MANY)).status not in {200, 201}:
        raise LeftOut("the gateway registers no agent with a dozen redirect URIs")

    answer = gateway.register(
        world.agents.metadata(redirect_uris=[*MANY[:-1], "http://agent.example/callback"])
    )

    expect(answer).not_granted("a client", "client_id", "client_secret")


@check("REG-06", cases=MIXED)
def one_bad_redirect_uri_spoils_the_list(gateway: Gateway, world: World, case: list[str]) -> None:
    """A registration is refused if one of its redirect URIs is bad, at any position."""
    require(world.agents.accepted(gateway.register(world.agents.metadata(redirect_uris=[CALLBACK, OTHER]))))

    answer = gateway.register(world.agents.metadata(redirect_uris=case))

    expect(answer).not_granted("a client", "client_id", "client_secret")


@check("REG-06")
def redirect_uri_in_no_array_must_be_https(gateway: Gateway, world: World) -> None:
    """A bad redirect URI sent as a string, not in an array, is refused, or gets no code later.

    The specification requires an array and does not say what happens with a string: the gateway may ignore
    it.
    """
    world.new_code(agent=world.agents.new())
    bad = BAD_URIS["http"]
    registered = gateway.register(world.agents.metadata() | {"redirect_uris": bad})
    if registered.status in range(400, 500):
        expect(registered).not_granted("a client", "client_id", "client_secret")
        return

    visit = gateway.visit(world.attempt(world.agents.of(registered), redirect_uri=bad), wherever=True)

    no_code(visit, f"authorization with the redirect URI {bad}, which was registered in no array")
