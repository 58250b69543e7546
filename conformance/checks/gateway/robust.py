"""Odd input causes no server error at any endpoint."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any
from urllib.parse import quote, urlencode

from gateproof.conformance.checks.gateway._exchanges import require_exchange
from gateproof.conformance.checks.gateway._robust_steps import all_are_robust, sent_to_the_gateway
from gateproof.conformance.checks.gateway._visits import attempt_known_to_work as good_request
from gateproof.conformance.kit.gateway.gateway import CALLBACK, BeyondReach, Gateway
from gateproof.conformance.kit.gateway.valid_tokens import valid_tokens
from gateproof.conformance.kit.gateway.worker_state import ValidTokens
from gateproof.conformance.kit.gateway.world import World
from gateproof.conformance.kit.inputs import odd_input as odd
from gateproof.conformance.kit.inputs.odd_requests import target_of, variations, with_header
from gateproof.conformance.kit.robust_answers import ask_all
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import require
from gateproof.conformance.wire import agent as agent_wire
from gateproof.conformance.wire import backend as backend_wire
from gateproof.conformance.wire.exchange import Request
from gateproof.conformance.wire.jose import read

GROUPS = ("bodies", "media types", "headers", "methods", "queries")
REGISTRATION_FIELDS = (
    "client_name",
    "redirect_uris",
    "grant_types",
    "response_types",
    "token_endpoint_auth_method",
    "scope",
    "jwks",
)
TOKEN_FIELDS = (
    *("grant_type", "code", "redirect_uri", "client_id", "client_secret", "code_verifier"),
    "refresh_token",
)
# The last ones are optional parameters of OpenID Connect and RFC 8707, which a gateway may ignore.
PARAMETERS = (
    *("response_type", "client_id", "redirect_uri", "scope", "code_challenge", "code_challenge_method"),
    *("nonce", "prompt", "max_age", "claims", "id_token_hint", "login_hint", "request", "resource"),
)
NAMES = (
    *("lone surrogate", "NUL", "markup", "format string", "right-to-left override", "combining marks"),
    *("the name __proto__", "the name constructor"),
)


@check("ROBUST-01", cases=GROUPS)
def registration_takes_anything(gateway: Gateway, world: World, case: str) -> None:
    """No odd body, header, method or query causes a server error at the registration endpoint."""
    good = agent_wire.registration(
        agent_wire.registration_endpoint(gateway.base_url), world.agents.metadata()
    )
    world.agents.new()

    ask_all(gateway, "registration", variations(good, case))
    world.agents.new()


@check("ROBUST-01", cases=REGISTRATION_FIELDS)
def registration_takes_any_member(gateway: Gateway, world: World, case: str) -> None:
    """No odd value of a metadata member causes a server error at the registration endpoint."""
    endpoint = agent_wire.registration_endpoint(gateway.base_url)
    values: dict[str, Any] = dict(odd.VALUES)
    if case in {"client_name", "scope"}:
        values |= {f"text, {name}": text for name, text in odd.TEXTS.items()}
    if case == "redirect_uris":
        values |= {f"good and {name}": [CALLBACK, uri] for name, uri in odd.URIS.items()}
    good = world.agents.metadata().get(case)
    if isinstance(good, list):
        values["good, twice"] = good * 2
    world.agents.new()

    ask_all(
        gateway,
        f"registration with an odd {case}",
        {
            name: agent_wire.registration(endpoint, world.agents.metadata() | {case: value})
            for name, value in values.items()
        },
    )


@check("ROBUST-01", cases=NAMES)
def registered_name_breaks_no_later_step(gateway: Gateway, world: World, case: str) -> None:
    """An odd client_name causes no server error at registration, authorization or exchange."""
    require(gateway.exchange(world.new_code())).status(200)
    registered = gateway.register(world.agents.metadata() | {"client_name": odd.TEXTS[case]})
    if registered.status in {200, 201}:
        attempt = world.attempt(world.agents.of(registered))
        visit = gateway.visit(attempt, wherever=True)
        if code := visit.parameter("code"):
            gateway.exchange(world.authorization_of(attempt, code))

    all_are_robust(sent_to_the_gateway(world), f"an agent whose name holds {case}")


@check("ROBUST-01", cases=("reserved", "lone surrogate", "NUL", "beyond the first plane", "markup"))
def state_breaks_no_later_step(gateway: Gateway, world: World, case: str) -> None:
    """An odd state in an authorization request causes no server error."""
    state = odd.TEXTS.get(case, "'\"<>%00&=#;\\")
    world, attempt = good_request(world)
    gateway = world.gateway
    pairs = [*attempt.parameters.items(), ("state", state)]
    pairs = [(name, value) for name, value in pairs if name != "state" or value == state]
    encoded = "&".join(f"{name}={quote(value.encode('utf-8', 'surrogatepass'))}" for name, value in pairs)
    url = agent_wire.authorization_endpoint(gateway.base_url, attempt.resource.id)
    with suppress(BeyondReach):
        gateway.record_secrets(gateway.sign_in(f"{url}?{encoded}", CALLBACK, attempt.user, approve=True))

    all_are_robust(sent_to_the_gateway(world), f"an authorization whose state holds {case}")


@check("ROBUST-01", cases=GROUPS)
def redemption_takes_anything(gateway: Gateway, world: World, case: str) -> None:
    """No odd body, header, method or query causes a server error in a redemption."""
    good = _redemption(gateway, valid_tokens(world))

    ask_all(gateway, "redemption", variations(good, case))


@check("ROBUST-01", cases=("resource", "Authorization", "X-Proxy-Token"))
def redemption_takes_any_value(gateway: Gateway, world: World, case: str) -> None:
    """No odd resource or credential causes a server error in a redemption."""
    good = _redemption(gateway, valid_tokens(world))
    if case == "resource":
        values = {**odd.VALUES, **odd.TEXTS, **odd.URIS}
        requests = {
            name: replace(good, body=json.dumps({"resource": value}).encode())
            for name, value in values.items()
        }
    else:
        requests = {
            name: with_header(good, case, value) for name, value in _odd_credentials(good, case).items()
        }

    ask_all(gateway, f"redemption with an odd {case}", requests)


@check("ROBUST-01", cases=GROUPS)
def token_endpoint_takes_anything(gateway: Gateway, world: World, case: str) -> None:
    """No odd body, header, method or query causes a server error at the token endpoint."""
    world.backend.proxy_token()
    good = agent_wire.form_post(
        agent_wire.token_endpoint(gateway.core_url), [("grant_type", "client_credentials")]
    )

    ask_all(gateway, "token endpoint", variations(good, case))
    world.backend.proxy_token()


@check("ROBUST-01", cases=TOKEN_FIELDS)
def token_endpoint_takes_any_field(gateway: Gateway, world: World, case: str) -> None:
    """No odd value of a field causes a server error in a known agent's exchange or refresh."""
    agent = world.agents.new()
    require_exchange(world, agent)
    fields = {
        "grant_type": "authorization_code",
        "code": agent_wire.fresh_state(),
        "redirect_uri": CALLBACK,
        "client_id": agent.client_id,
        "client_secret": agent.client_secret.reveal(),
        "code_verifier": agent_wire.fresh_verifier(),
    }
    if case == "refresh_token":
        own = {name: fields[name] for name in ("client_id", "client_secret")}
        fields = {"grant_type": case, case: agent_wire.fresh_state(), **own}
    good = agent_wire.form_post(agent_wire.token_endpoint(gateway.core_url), list(fields.items()))
    texts = {**odd.TEXTS, **(odd.URIS if case == "redirect_uri" else {})}
    requests = {name: replace(good, body=_form(fields | {case: text})) for name, text in texts.items()}
    without = [pair for pair in fields.items() if pair[0] != case]
    requests["octets that are no UTF-8"] = replace(
        good, body=urlencode(without).encode() + f"&{case}=%ff%fe%80".encode()
    )
    requests["doubled"] = replace(good, body=_form(fields) + f"&{case}=a&{case}=b".encode())
    requests["large"] = replace(good, body=_form(fields | {case: "a" * odd.LARGE}))

    ask_all(gateway, f"exchange with an odd {case}", requests)


@check("ROBUST-01", cases=("headers", "methods"))
def authorization_takes_anything(gateway: Gateway, world: World, case: str) -> None:
    """No odd method or header causes a server error at the authorization endpoint."""
    world, attempt = good_request(world)
    good = Request(method="GET", url=gateway.authorization_url(attempt))

    ask_all(gateway, "authorization", variations(good, case))


@check("ROBUST-01", cases=PARAMETERS)
def authorization_takes_any_parameter(gateway: Gateway, world: World, case: str) -> None:
    """No odd value of a parameter causes a server error at the authorization endpoint."""
    world, attempt = good_request(world)
    endpoint = agent_wire.authorization_endpoint(gateway.base_url, attempt.resource.id)
    texts = {**odd.TEXTS, **(odd.URIS if case == "redirect_uri" else {})}
    requests = {
        name: _navigation(endpoint, _query(dict(attempt.parameters) | {case: text}))
        for name, text in texts.items()
    }
    others = _query({name: value for name, value in attempt.parameters.items() if name != case})
    requests["octets that are no UTF-8"] = _navigation(endpoint, others + f"&{case}=%ff%fe".encode())
    requests["percent garbage"] = _navigation(endpoint, others + f"&{case}=%zz%".encode())
    requests["an array"] = _navigation(endpoint, others + f"&{case}[]=a&{case}[b]=c".encode())
    requests["doubled"] = _navigation(endpoint, others + f"&{case}=a&{case}=b".encode())

    ask_all(gateway, f"authorization with an odd {case}", requests)


@check("ROBUST-01")
def authorization_takes_any_query(gateway: Gateway, world: World) -> None:
    """No odd query, alone or after a correct one, causes a server error at the authorization endpoint."""
    world, attempt = good_request(world)
    endpoint = agent_wire.authorization_endpoint(gateway.base_url, attempt.resource.id)
    good = _query(dict(attempt.parameters))
    requests = {f"{name}, alone": _navigation(endpoint, query) for name, query in odd.ODD_QUERIES.items()}
    requests |= {
        f"{name}, after a good one": _navigation(endpoint, good + b"&" + query)
        for name, query in odd.ODD_QUERIES.items()
    }

    ask_all(gateway, "authorization with an odd query", requests)


@check("ROBUST-01", cases=("discovery", "key set of the Resource", "authorization"))
def resource_id_in_the_path_can_be_anything(gateway: Gateway, world: World, case: str) -> None:
    """No odd path segment in place of the Resource's ID, and no odd query, causes a server error."""
    resource = world.projects.home().resource
    if case == "authorization":
        good_request(world)
    else:
        _documents(world)
    url = {
        "discovery": agent_wire.discovery_url(gateway.base_url, resource.id),
        "key set of the Resource": world.gateway.reachable(resource.jwks_uri),
        "authorization": agent_wire.authorization_endpoint(gateway.base_url, resource.id),
    }[case]
    before, found, after = target_of(url).partition(quote(resource.id).encode())
    segments = odd.ODD_SEGMENTS if found else {}
    requests = {
        name: Request(method="GET", url=url, target=before + segment + after)
        for name, segment in segments.items()
    }
    requests |= variations(Request(method="GET", url=url), "queries")

    ask_all(gateway, case, requests)


@check("ROBUST-01", cases=("discovery", "core key set", "key set of the Resource"))
def documents_take_any_request(gateway: Gateway, world: World, case: str) -> None:
    """No odd method or header causes a server error at discovery or at a key set."""
    resource = world.projects.home().resource
    _documents(world)
    core = require.text(world.discovery(resource).get("jwks_uri"), "jwks_uri in the discovery document")
    url = {
        "discovery": agent_wire.discovery_url(gateway.base_url, resource.id),
        "core key set": world.gateway.reachable(core),
        "key set of the Resource": world.gateway.reachable(resource.jwks_uri),
    }[case]
    good = Request(method="GET", url=url)

    ask_all(gateway, case, {**variations(good, "headers"), **variations(good, "methods")})


def _documents(world: World) -> None:
    """Requires that the discovery document and both key sets can be fetched."""
    resource = world.projects.home().resource
    world.keys.core(resource)
    world.keys.at(resource.jwks_uri, "key set of the Resource")


def _redemption(gateway: Gateway, good: ValidTokens) -> Request:
    return backend_wire.redemption(
        gateway.base_url,
        bearer=good.grant.access_token,
        proxy_token=good.proxy_token,
        resource=good.indicator,
    )


def _odd_credentials(good: Request, header: str) -> Mapping[str, str]:
    """Odd values for a credential header; a header cannot contain control characters."""
    right = next(value for name, value in good.headers if name == header)
    scheme, _, token = right.rpartition(" ")
    before = f"{scheme} " if scheme else ""
    jwt = "eyJhbGciOiJFUzI1NiJ9"
    return {
        "empty": "",
        "scheme alone": before.strip() or "Bearer",
        "a dot": f"{before}.",
        "two dots": f"{before}..",
        "many dots": before + "." * 1_000,
        "a header alone": f"{before}{jwt}..",
        "a header that is an array": f"{before}W10.W10.W10",
        "a header of null": f"{before}bnVsbA.bnVsbA.bnVsbA",
        "a header without alg": f"{before}e30.e30.e30",
        "an alg of null": f"{before}eyJhbGciOm51bGx9.e30.e30",
        "an alg that is an object": f"{before}eyJhbGciOnt9fQ.e30.e30",
        "a kid that is an array": f"{before}eyJhbGciOiJFUzI1NiIsImtpZCI6W119.e30.e30",
        "a kid that is an object": f"{before}eyJhbGciOiJFUzI1NiIsImtpZCI6e319.e30.e30",
        **{f"{what} in the token's own header": f"{before}{other}" for what, other in _with_odd_kids(token)},
        "no base64": f"{before}%%%.%%%.%%%",
        "padding": f"{before}====.====.====",
        "claims that are no JSON": f"{before}{jwt}.AAAA.AAAA",
        "claims 1000 arrays deep": f"{before}{jwt}.{'W1tb' * 400}.AAAA",
        "an encrypted token": f"{before}{jwt}.a.b.c.d",
        "beyond ASCII": f"{before}\xe4\xff\x80",
        "letters of Latin-1 after it": f"{before}{token}\xff",
        "commas": f"{before}{token}, {before}{token}",
        "quotes": f'{before}"{token}"',
        "twice the scheme": f"{before}{before}{token}",
        "long": before + "a" * odd.LONG,
        **{f"the name {name}": f"{before}{name}" for name in odd.SPECIAL_NAMES},
    }


def _navigation(endpoint: str, query: bytes) -> Request:
    return Request(method="GET", url=endpoint, target=target_of(endpoint) + b"?" + query)


def _query(parameters: Mapping[str, str]) -> bytes:
    pairs = (f"{name}={quote(value.encode('utf-8', 'surrogatepass'))}" for name, value in parameters.items())
    return "&".join(pairs).encode("ascii")


def _form(fields: Mapping[str, str]) -> bytes:
    return urlencode({name: text.encode("utf-8", "surrogatepass") for name, text in fields.items()}).encode()


def _with_odd_kids(token: str) -> Iterator[tuple[str, str]]:
    """The token with various unknown `kid` values, if it is a JWT; the rest of its header is unchanged."""
    parsed = read(token)
    if parsed is None:
        return
    rest = token.partition(".")[2]
    kids: list[tuple[str, Any]] = [("an array as kid", []), ("an object as kid", {}), ("a number as kid", 7)]
    kids += [(f"{name} as kid", name) for name in (*odd.SPECIAL_NAMES, odd.TEXTS["lone surrogate"], "a\x00")]
    for what, kid in kids:
        header = json.dumps({**parsed.header, "kid": kid}).encode()
        yield what, f"{base64.urlsafe_b64encode(header).rstrip(b'=').decode()}.{rest}"
