"""Secrets in URLs, which browsers, proxies and servers log."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from urllib.parse import urlsplit

from gateproof.conformance.checks.gateway import _secret_probes as probes
from gateproof.conformance.checks.gateway._distinct_parts import distinct
from gateproof.conformance.checks.gateway._references import reference_elsewhere
from gateproof.conformance.kit.gateway.gateway import CALLBACK, Gateway
from gateproof.conformance.kit.gateway.received import MERCHANT_KINDS, Received
from gateproof.conformance.kit.gateway.valid_tokens import valid_tokens
from gateproof.conformance.kit.gateway.world import World
from gateproof.conformance.signin.addresses import resolve
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import expect, require
from gateproof.conformance.wire import leaks
from gateproof.conformance.wire.exchange import Exchange
from gateproof.conformance.wire.route import origin, parts_of

# Kinds that no URL may contain, and kinds that no URL of another host may contain.
NEVER = ("access_token", "id_token", "refresh_token", "client_secret", "proxy_token", "proxy_client_secret")
MERCHANT = tuple(MERCHANT_KINDS.values())
OWN_HOSTS_ONLY = ("code", "code_verifier")
# Referrer policies that send a page's whole URL to another host.
LEAKING_POLICIES = ("unsafe-url", "no-referrer-when-downgrade")
_META = re.compile(r"<meta[^>]+name\s*=\s*[\"']?referrer[^>]*>", re.IGNORECASE)


@check("SECRET-07", cases=("a sign-in", "a refused sign-in", "a declined sign-in"))
def no_address_holds_a_token_or_secret(gateway: Gateway, world: World, received: Received, case: str) -> None:
    """No redirect of a sign-in has a token or secret in its URL."""
    grant = world.grant()
    world.backend.proxy_token()
    attempt = world.attempt(grant.agent)
    if case == "a refused sign-in":
        attempt = world.attempt(grant.agent)
        refused = [*attempt.parameters.items(), ("scope", "openid no:such")]
        gateway.visit(attempt, pairs=refused, wherever=True)
    else:
        gateway.visit(attempt, approve=case == "a sign-in", wherever=True)

    found = _in_addresses(world, received, (*NEVER, *MERCHANT))
    expect.that(not found, f"addresses of {case}", expected="no token and no secret", got="; ".join(found))


@check("SECRET-07")
def code_goes_to_the_redirect_uri_alone(gateway: Gateway, world: World, received: Received) -> None:
    """Redirects to other hosts contain the code only in the redirect URI, and the verifier nowhere."""
    authorization = world.new_code()
    require(gateway.exchange(authorization)).status(200)
    gateway.exchange(authorization)

    found = [
        place
        for place in _in_addresses(world, received, OWN_HOSTS_ONLY)
        if not (place.startswith("code ") and place.endswith(f" on {_named(CALLBACK)}"))
        and not any(f" on {own}/" in place for own in (gateway.base_url, gateway.core_url))
    ]
    expect.that(
        not found,
        "addresses of a sign-in",
        expected="the code at the redirect URI alone",
        got="; ".join(found),
    )


@check("SECRET-07")
def credentials_are_not_redirected_to_another_host(gateway: Gateway, world: World) -> None:
    """No endpoint answers credentials with a 307 or 308 to another host.

    The root page does not count: it may redirect everybody to another site.
    """
    good = valid_tokens(world)
    client = world.projects.home().proxy_client
    probes.send(gateway, probes.refused_redemptions(gateway, good))
    probes.send(gateway, probes.backends_side(gateway, client, good.proxy_token))
    away = [
        f"{exchange.step}: status {exchange.status} to {_named(target)}"
        for exchange in _own(gateway, world.seen())
        if exchange.status in {307, 308}
        and exchange.request.url != f"{gateway.base_url}/"
        and (target := _location(exchange))
        and origin(target) not in _origins(gateway)
        and exchange.step != "browser"
    ]

    expect.that(
        not away, "answers to credentials", expected="no 307 or 308 to another host", got="; ".join(away)
    )


@check("SECRET-07")
def page_with_a_credential_in_its_address_sends_no_referer(gateway: Gateway, world: World) -> None:
    """A page with a code or token in its URL does not send this URL to other hosts as the referrer.

    Current browsers send only the origin to other hosts by default. Older ones need a Referrer-Policy, if the
    page refers to another host.
    """
    before = world.merchant.last_minted() if world.merchant is not None else 0
    grant = world.grant()
    known = [
        leaks.canary(kind, value)
        for kind in (*NEVER, *OWN_HOSTS_ONLY)
        for value in gateway.keyring.values(kind)
    ]
    merchants = world.merchant.tokens("code", before) if world.merchant is not None else []
    known += [leaks.canary("merchant_code", token.value) for token in merchants]
    canary_set = leaks.CanarySet(distinct(world, known))
    require.that(bool(known), f"a sign-in of {grant.user.name}", expected="credentials", got="none")
    bad = [
        f"{urlsplit(exchange.request.url).path}: {why}"
        for exchange in _own(gateway, world.seen())
        if exchange.step == "browser" and _is_page(exchange) and canary_set.search(exchange.request.url)
        if (why := _referrer_leak(exchange, _origins(gateway)))
    ]

    expect.that(
        not bad, "pages of a sign-in", expected="a Referrer-Policy that keeps the address", got="; ".join(bad)
    )


def _in_addresses(world: World, received: Received, kinds: Sequence[str]) -> list[str]:
    """The kinds of secrets in URLs to which the target redirected a browser or client."""
    keyring = world.gateway.keyring
    known = [leaks.canary(kind, value) for kind in kinds for value in keyring.values(kind)]
    canary_sets = (
        leaks.CanarySet(distinct(world, known)),
        *received.canary_sets(*(kind for kind in kinds if kind in MERCHANT)),
    )
    places = []
    for exchange in _own(world.gateway, world.seen()):
        if target := _location(exchange):
            places += [
                f"{found.kind} in an address on {_named(target)}"
                for found in leaks.search_all(canary_sets, target)
            ]
    return list(dict.fromkeys(places))


def _own(gateway: Gateway, exchanges: Iterable[Exchange]) -> list[Exchange]:
    return [exchange for exchange in exchanges if origin(exchange.request.url) in _origins(gateway)]


def _origins(gateway: Gateway) -> set[str]:
    return {origin(gateway.base_url), origin(gateway.core_url)}


def _location(exchange: Exchange) -> str:
    location = exchange.header("Location")
    return resolve(exchange.request.url, location) if location else ""


def _named(url: str) -> str:
    parts = parts_of(url)
    return f"{parts.scheme}://{parts.netloc}{parts.path}"


def _is_page(exchange: Exchange) -> bool:
    return (
        exchange.status is not None
        and exchange.status < 300
        and "html" in (exchange.header("Content-Type") or "")
    )


def _referrer_leak(exchange: Exchange, own: set[str]) -> str:
    """Why the page's URL is sent to another host, or an empty string if it is not."""
    body = exchange.answer.text() if exchange.answer is not None else ""
    policy_text = " ".join([*_policies(exchange), *_META.findall(body)]).lower()
    leaking = next((policy for policy in LEAKING_POLICIES if policy in policy_text), None)
    if leaking is not None:
        return f"Referrer-Policy {leaking}"
    elsewhere = reference_elsewhere(exchange.request.url, body, own)
    if not policy_text and elsewhere is not None:
        return f"no Referrer-Policy, and a reference to {elsewhere}"
    return ""


def _policies(exchange: Exchange) -> tuple[str, ...]:
    return exchange.answer.headers_named("Referrer-Policy") if exchange.answer is not None else ()
