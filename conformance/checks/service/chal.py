"""The challenge, with which an agent finds the metadata."""

from __future__ import annotations

import base64
import secrets
from collections.abc import Callable, Mapping
from urllib.parse import urlsplit

from gateproof.conformance.checks.service._altered_tokens import expired, good_token
from gateproof.conformance.checks.service._failing_parties import all_fail
from gateproof.conformance.checks.service._pointers import expect_same_document, first_pointer, is_unreachable
from gateproof.conformance.kit.inputs.odd_requests import with_header
from gateproof.conformance.kit.service.service import (
    POINTER,
    Service,
    challenges_of,
    document,
    expect_challenge,
    expect_refused_twice,
)
from gateproof.conformance.kit.service.world import USERS, ServiceWorld
from gateproof.conformance.signin.addresses import is_web
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import LeftOut, expect, observe, require
from gateproof.conformance.wire.documents import holds_url, in_any_order
from gateproof.conformance.wire.exchange import Exchange
from gateproof.conformance.wire.route import parts_of
from gateproof.fakes.gateway.keys import new_key, signed

# Authorization headers without a valid Bearer token; some contain a good token in a wrong form.
NO_TOKENS: dict[str, Callable[[str], str]] = {
    "basic": lambda _: "Basic YWdlbnQ6c2VjcmV0",
    "basic-with-the-token": lambda good: f"Basic {base64.b64encode(f'bearer:{good}'.encode()).decode()}",
    "basic-with-the-token-as-user": lambda good: f"Basic {base64.b64encode(f'{good}:'.encode()).decode()}",
    "another-scheme": lambda good: f"Token {good}",
    "dpop": lambda good: f"DPoP {good}",
    "jwt": lambda good: f"JWT {good}",
    "oauth": lambda good: f"OAuth {good}",
    "a-scheme-that-begins-alike": lambda good: f"BearerToken {good}",
    "a-scheme-that-ends-alike": lambda good: f"NotBearer {good}",
    "behind-another-scheme": lambda good: f"Basic eDp5 Bearer {good}",
    "behind-another-scheme-and-a-comma": lambda good: f"Basic eDp5, Bearer {good}",
    "no-space": lambda good: f"Bearer{good}",
    "colon": lambda good: f"Bearer:{good}",
    "colon-and-space": lambda good: f"Bearer: {good}",
    "bearer-alone": lambda _: "Bearer",
    "no-scheme": lambda good: good,
    # A server that reads one word, or all words, finds no token in this header.
    "a-word-before": lambda good: f"Bearer x {good}",
    "garbage": lambda _: f"Bearer garbage-{secrets.token_hex(8)}",
    "two-dots": lambda _: "Bearer ..",
    "three-words-of-base64": lambda _: "Bearer e30.e30.e30",
    "not-base64": lambda good: f"Bearer {good.replace('.', '.%')}",
    "json": lambda _: 'Bearer {"alg":"none"}',
    "null": lambda _: "Bearer null",
    "quoted": lambda good: f'Bearer "{good}"',
    "as-a-parameter": lambda good: f'Bearer token="{good}"',
    "punctuation": lambda _: "!!!",
}
BAD_TOKENS: dict[str, Callable[[ServiceWorld], str]] = {
    "no-jwt": lambda _: f"garbage-{secrets.token_hex(8)}",
    "expired": expired,
    "for-somebody-else": lambda world: world.gateway.access_token(USERS[0], aud=["https://api.example"]),
    "under-a-foreign-key": lambda world: signed(
        world.gateway.claims(USERS[0]), new_key(world.gateway.algorithm)
    ),
}


@check("CHAL-01")
def operation_without_a_token_gets_the_challenge(service: Service, world: ServiceWorld) -> None:
    """Without a token the operation answers 401 with the metadata address; with a token it works."""
    good_token(service, world)

    expect_challenge(service.operate())


@check("CHAL-01")
def whoever_takes_anything_gets_the_challenge(service: Service, world: ServiceWorld) -> None:
    """A request with `Accept: */*` gets the challenge and no login page."""
    if service.operation.kind == "mcp":
        raise LeftOut("a client of an MCP server names the media types that it reads")
    good_token(service, world)

    expect_challenge(service.wire.send("operation", with_header(service.request(()), "Accept", "*/*")))


@check("CHAL-01", needs=["faults"])
def challenge_comes_while_the_gateway_fails(service: Service, world: ServiceWorld) -> None:
    """A request without a token gets the challenge also while the gateway answers 500."""
    good_token(service, world)

    all_fail(world)
    expect_challenge(service.operate())


@check("CHAL-02")
def challenge_points_to_the_metadata(service: Service, world: ServiceWorld) -> None:
    """The address in the challenge serves the metadata document."""
    gateway = world.gateway
    pointer = expect_challenge(service.operate()).parameters[POINTER]
    parts = parts_of(pointer)
    expect.that(is_web(pointer), POINTER, expected="a URL", got=pointer)
    expect.that(
        parts.scheme == "https" or urlsplit(service.service_url).scheme != "https",
        POINTER,
        expected="an https URL, as the service's own is",
        got=pointer,
    )
    theirs = [urlsplit(url).netloc for url in (gateway.addresses.base_url, gateway.addresses.core_url)]
    expect.that(
        parts.netloc not in theirs or parts.netloc == urlsplit(service.service_url).netloc,
        POINTER,
        expected="the address of the service's own document",
        got="an address of the gateway's",
    )
    expect.that(
        service.wire.may_reach(pointer) or not is_unreachable(parts.hostname or ""),
        POINTER,
        expected="a host that an agent can connect to",
        got=pointer,
    )
    found = document(service.fetch(pointer, "metadata by the challenge"))

    wanted = gateway.authorization_server
    servers = found.get("authorization_servers")
    expect.that(
        holds_url(servers, wanted),
        f"document at {pointer}",
        expected=f"authorization_servers with {wanted}",
        got=servers,
    )


@check("CHAL-02", cases=BAD_TOKENS)
def challenge_for_a_bad_token_points_there_too(
    service: Service, world: ServiceWorld, case: Callable[[ServiceWorld], str]
) -> None:
    """The challenge for a bad token names the same document as the one without a token.

    A host that the target file does not name may be another name of the service; nothing is requested from
    it.
    """
    first = first_pointer(service)

    expect_same_document(service, first, service.serve(case(world)), "for a bad token")


@check("CHAL-02")
def challenge_says_the_address_of_the_target_file(service: Service) -> None:
    """The challenge and the target file name the same metadata document."""
    here = require(require(service.metadata()).status(200)).json_object()
    pointer = expect_challenge(service.operate()).parameters[POINTER]
    if pointer == service.metadata_url:
        expect.equal(pointer, service.metadata_url, POINTER)
        return
    there = document(service.fetch(pointer, "metadata by the challenge"))

    for name in ("resource", "authorization_servers"):
        same = in_any_order(there.get(name)) == in_any_order(here.get(name))
        expect.that(same, name, expected="the same at both addresses", got="another")


@check("CHAL-03", cases=NO_TOKENS)
def no_bearer_token_gets_the_challenge(
    service: Service, world: ServiceWorld, case: Callable[[str], str]
) -> None:
    """An Authorization header without a Bearer token gets the challenge; the same token as Bearer works."""
    good_token(service, world)
    header = case(world.gateway.misplaced_token(USERS[0]))

    expect_refused_twice(lambda: service.operate(header), lambda: service.operate_once(header))


@check("CHAL-09")
def error_in_the_challenge(service: Service) -> None:
    """Records whether the challenge has `error`, without a token and for a bad one."""
    garbage = f"Bearer garbage-{secrets.token_hex(8)}"
    none, bad = (_bearer(service.operate(*given)) for given in ((), (garbage,)))
    observe(
        error_without_a_token=none.get("error", "none"),
        error_with_a_bad_token=bad.get("error", "none"),
        realm="realm" in none,
        scope="scope" in none,
    )


def _bearer(answer: Exchange) -> Mapping[str, str]:
    """The parameters of the Bearer challenge; another rule tests that there is one."""
    found = [each for each in challenges_of(answer) if each.scheme.lower() == "bearer"]
    require.that(bool(found), answer.step, expected="a challenge for Bearer", got="none", exchange=answer)
    return found[0].parameters
