"""Requests that may make a gateway reveal secrets: refused, malformed, or with debugging options on."""

from __future__ import annotations

import json
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import replace

from gateproof.conformance.kit.gateway.gateway import Gateway
from gateproof.conformance.kit.gateway.worker_state import ValidTokens
from gateproof.conformance.kit.gateway.world import World
from gateproof.conformance.kit.inputs.near_tokens import changed_at_the_end
from gateproof.conformance.suite.parties import ProxyClient
from gateproof.conformance.wire import agent as agent_wire
from gateproof.conformance.wire import backend as backend_wire
from gateproof.conformance.wire.exchange import Exchange, Request
from gateproof.conformance.wire.secret import Secret

Asked = tuple[str, Request]

_OF_TYPE = "urn:ietf:params:oauth:token-type"

DEBUG_HEADERS = (
    ("X-Debug", "1"),
    ("Debug", "true"),
    ("X-Trace", "1"),
    ("Prefer", "return=representation"),
    ("Accept", "text/html"),
)
DEBUG_QUERY = "debug=1&trace=true&verbose=1&pretty=1&include=all&expand=*&fields=*"


def send(gateway: Gateway, asked: Iterator[Asked]) -> list[Exchange]:
    """Sends each of the requests and returns the answers."""
    return [gateway.wire.send(step, request) for step, request in asked]


def refused_redemptions(
    gateway: Gateway, good: ValidTokens, foreign: Secret | None = None
) -> Iterator[Asked]:
    """A redemption that works, and variations that each have one fault."""
    user, proxy, indicator = good.grant.access_token, good.proxy_token, good.indicator

    def redemption(bearer: Secret | None, token: Secret | None, resource: object) -> Request:
        return backend_wire.redemption(gateway.base_url, bearer=bearer, proxy_token=token, resource=resource)

    right = redemption(user, proxy, indicator)
    yield "redemption without Authorization", redemption(None, proxy, indicator)
    yield "redemption without a Proxy token", redemption(user, None, indicator)
    yield "redemption without credentials", redemption(None, None, indicator)
    yield "redemption with an ID token", redemption(good.grant.id_token, proxy, indicator)
    yield "redemption with the agent's refresh token", redemption(good.grant.refresh_token, proxy, indicator)
    yield "redemption with an altered token", redemption(_altered(user), proxy, indicator)
    yield "redemption with an altered Proxy token", redemption(user, _altered(proxy), indicator)
    yield "redemption with the tokens swapped", redemption(proxy, user, indicator)
    yield "redemption with the Proxy token twice", redemption(proxy, proxy, indicator)
    if foreign is not None:
        yield "redemption with another Project's Proxy token", redemption(user, foreign, indicator)
    for name, resource in (
        ("slash behind it", f"{indicator}/"),
        ("prefix", indicator[:-1]),
        ("other case", indicator.upper()),
        ("null", None),
        ("array", [indicator]),
        ("object", {"$ne": indicator}),
    ):
        yield f"redemption of an indicator with a {name}", redemption(user, proxy, resource)
    yield "redemption of JSON cut off", replace(right, body=right.body[:-1])
    yield "redemption of nothing", replace(right, body=b"")
    yield "redemption by form", replace(right, headers=_as_form(right), body=b"resource=x")
    yield "redemption of 1000 arrays", replace(right, body=b"[" * 1000)
    # Not TRACE: its purpose is to return the request.
    for method in ("GET", "HEAD", "OPTIONS", "PUT", "DELETE"):
        yield f"redemption by {method}", replace(right, method=method)
    wrong = redemption(user, proxy, f"{indicator}x")
    yield "refused redemption, debugged by headers", replace(wrong, headers=(*wrong.headers, *DEBUG_HEADERS))
    yield "refused redemption, debugged by query", replace(wrong, url=f"{wrong.url}?{DEBUG_QUERY}")
    yield (
        "refused redemption, debugged by body",
        replace(
            wrong, body=json.dumps({"resource": f"{indicator}x", "debug": True, "verbose": True}).encode()
        ),
    )
    yield "refused redemption for a page", replace(wrong, headers=_accepting(wrong, "text/html"))
    yield (
        "refused redemption for a problem",
        replace(wrong, headers=_accepting(wrong, "application/problem+json")),
    )


def agents_side(gateway: Gateway, world: World, good: ValidTokens) -> Iterator[Asked]:
    """Requests that an agent can make with its own credentials, at every endpoint, with debugging options."""
    grant, resource = good.grant, good.grant.resource
    bearer = ("Authorization", f"Bearer {grant.access_token.reveal()}")
    base, core = gateway.base_url, gateway.core_url
    discovery = agent_wire.discovery_url(base, resource.id)
    authorization = agent_wire.authorization_endpoint(base, resource.id)
    registration = agent_wire.registration(agent_wire.registration_endpoint(base), world.agents.metadata())
    urls = {
        "discovery": discovery,
        "core key set": str(world.discovery(resource).get("jwks_uri")),
        "key set of the Resource": resource.jwks_uri,
        "authorization": authorization,
        "registration": registration.url,
        "token endpoint": agent_wire.token_endpoint(core),
        "redemption": backend_wire.redemption_endpoint(base),
        "user info": f"{core}/userinfo",
        "introspection": f"{core}/oauth2/introspect",
        "root of base": f"{base}/",
        "root of core": f"{core}/",
    }
    urls |= _announced(world.discovery(resource), known=set(urls.values()))
    for name, url in urls.items():
        if not gateway.wire.may_reach(url):
            continue
        for method in ("GET", "OPTIONS", "TRACE"):
            yield f"{name} by {method}", Request(method=method, url=url, headers=(bearer, *DEBUG_HEADERS))
        yield f"{name}, debugged", Request(method="GET", url=f"{url}?{DEBUG_QUERY}", headers=(bearer,))
    yield "registration with a token", replace(registration, headers=(*registration.headers, bearer))
    yield "registration that is refused", replace(registration, body=b'{"redirect_uris": "x"}')
    for name, exchanged in _token_exchanges(good).items():
        yield f"token endpoint, {name}", agent_wire.form_post(agent_wire.token_endpoint(core), exchanged)
    introspection = urls.get("announced introspection_endpoint", urls["introspection"])
    if gateway.wire.may_reach(introspection):
        yield "introspection by POST", agent_wire.form_post(introspection, _introspected(good))
    for name, fields in _agents_forms(good).items():
        form = agent_wire.form_post(agent_wire.token_endpoint(core), fields)
        yield f"token endpoint, {name}", form
        yield f"token endpoint, {name}, debugged", replace(form, url=f"{form.url}?{DEBUG_QUERY}")


def _announced(document: Mapping[str, object], known: Container[str]) -> dict[str, str]:
    """Further endpoints that the discovery document names."""
    found = {name: value for name, value in document.items() if name.endswith("_endpoint")}
    return {
        f"announced {name}": value
        for name, value in found.items()
        if isinstance(value, str) and value not in known
    }


def _client(good: ValidTokens) -> list[tuple[str, str]]:
    agent = good.grant.agent
    return [("client_id", agent.client_id), ("client_secret", agent.client_secret.reveal())]


def _introspected(good: ValidTokens) -> list[tuple[str, str]]:
    return [("token", good.grant.access_token.reveal()), *_client(good)]


def _token_exchanges(good: ValidTokens) -> dict[str, list[tuple[str, str]]]:
    """Token exchanges (RFC 8693) of the agent's tokens for a token that the merchant takes."""
    kinds = {
        "access_token": good.grant.access_token,
        "id_token": good.grant.id_token,
        "refresh_token": good.grant.refresh_token,
    }
    targets = {
        "a resource": [("resource", good.indicator)],
        "an audience": [("audience", good.indicator)],
        "both, and a type": [
            ("resource", good.indicator),
            ("audience", good.indicator),
            ("requested_token_type", f"{_OF_TYPE}:access_token"),
        ],
    }
    return {
        f"{kind} for {what}": [
            ("grant_type", "urn:ietf:params:oauth:grant-type:token-exchange"),
            ("subject_token", token.reveal()),
            ("subject_token_type", f"{_OF_TYPE}:{kind}"),
            *target,
            *_client(good),
        ]
        for kind, token in kinds.items()
        for what, target in targets.items()
    }


def _agents_forms(good: ValidTokens) -> dict[str, Sequence[tuple[str, str]]]:
    agent, grant = good.grant.agent, good.grant
    client = _client(good)
    return {
        "a code that is none": [
            ("grant_type", "authorization_code"),
            ("code", "none"),
            ("redirect_uri", agent.redirect_uri),
            ("code_verifier", agent_wire.fresh_verifier()),
            *client,
        ],
        "no grant": client,
        "a grant that is none": [("grant_type", "none"), *client],
        "the user's own token": [
            ("grant_type", "urn:ietf:params:oauth:grant-type:token-exchange"),
            ("subject_token", grant.access_token.reveal()),
            ("subject_token_type", "urn:ietf:params:oauth:token-type:access_token"),
            *client,
        ],
    }


def backends_side(gateway: Gateway, client: ProxyClient, proxy_token: Secret) -> Iterator[Asked]:
    """Requests that a backend can make with its Proxy client's credentials; most have one fault."""
    endpoint = agent_wire.token_endpoint(gateway.core_url)
    secret = client.secret.reveal()
    basic = gateway.basic(client)
    pair = [("client_id", client.id), ("client_secret", secret)]
    asks = [("grant_type", "client_credentials")]
    good = agent_wire.form_post(endpoint, asks, basic)
    yield "Proxy token request", good
    yield "Proxy token request, debugged by headers", replace(good, headers=(*good.headers, *DEBUG_HEADERS))
    yield "Proxy token request, debugged by query", replace(good, url=f"{endpoint}?{DEBUG_QUERY}")
    yield "Proxy token request by form", agent_wire.form_post(endpoint, [*asks, *pair])
    yield "Proxy token request by both ways", agent_wire.form_post(endpoint, [*asks, *pair], basic)
    yield "Proxy credentials without a grant", agent_wire.form_post(endpoint, pair)
    yield "Proxy credentials by Basic without a grant", agent_wire.form_post(endpoint, [], basic)
    yield (
        "Proxy credentials for a code",
        agent_wire.form_post(endpoint, [("grant_type", "authorization_code"), ("code", "none"), *pair]),
    )
    yield (
        "Proxy credentials for a grant that is none",
        agent_wire.form_post(endpoint, [("grant_type", "none")], basic),
    )
    yield "Proxy token request of a scope", agent_wire.form_post(endpoint, [*asks, ("scope", "a\tb")], basic)
    yield "Proxy token request doubled", agent_wire.form_post(endpoint, [*asks, *asks], basic)
    yield (
        "Proxy token request in JSON",
        replace(good, headers=(agent_wire.JSON_BODY, basic), body=json.dumps(dict(asks + pair)).encode()),
    )
    # Not TRACE: its purpose is to return the request (RFC 9110 section 9.3.8).
    for method in ("GET", "OPTIONS", "PUT"):
        yield f"Proxy token request by {method}", replace(good, method=method)
    proxy = ("X-Proxy-Token", proxy_token.reveal())
    bearer = ("Authorization", f"Bearer {proxy_token.reveal()}")
    registration = agent_wire.registration(agent_wire.registration_endpoint(gateway.base_url), {})
    redemption = backend_wire.redemption(gateway.base_url, bearer=None, proxy_token=None, resource="x")
    for name, header in (("Basic", basic), ("a Proxy token", proxy), ("a Proxy token as Bearer", bearer)):
        yield f"token endpoint with {name}", agent_wire.form_post(endpoint, [("grant_type", "none")], header)
        yield f"registration with {name}", replace(registration, headers=(*registration.headers, header))
        yield f"redemption with {name}", replace(redemption, headers=(*redemption.headers, header))
        url = f"{gateway.base_url}/"
        yield f"OPTIONS with {name}", Request(method="OPTIONS", url=url, headers=(header, *DEBUG_HEADERS))


def _altered(secret: Secret) -> Secret:
    """A credential with one significant character near its end changed."""
    return Secret(f"altered_{secret.kind}", changed_at_the_end(secret.reveal()))


def _as_form(request: Request) -> tuple[tuple[str, str], ...]:
    kept = tuple(header for header in request.headers if header[0] != "Content-Type")
    return (*kept, agent_wire.FORM_BODY)


def _accepting(request: Request, media_type: str) -> tuple[tuple[str, str], ...]:
    kept = tuple(header for header in request.headers if header[0] != "Accept")
    return (*kept, ("Accept", media_type))
