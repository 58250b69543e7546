"""The required form of registrations, authorization requests and exchanges in any run."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

from gateproof.conformance.kit.agent.addresses import CHALLENGE
from gateproof.conformance.kit.agent.agent import Install, s256
from gateproof.conformance.kit.agent.launch import Run
from gateproof.conformance.kit.agent.visits import Visit
from gateproof.conformance.kit.agent.world import SCOPES, ReceivedRequest
from gateproof.conformance.suite.claims import expect, observe
from gateproof.conformance.wire.exchange import Exchange
from gateproof.fakes.gateway.agent_endpoints import AgentClient

_REQUIRED = (
    "response_type",
    "client_id",
    "redirect_uri",
    "scope",
    "state",
    "code_challenge",
    "code_challenge_method",
)
# The required value of these parameters, and how it is described.
_VALUES: Mapping[str, tuple[Callable[[str], bool], str]] = {
    "response_type": (lambda value: value == "code", "code"),
    "code_challenge_method": (lambda value: value == "S256", "S256"),
    "state": (bool, "a value"),
    "code_challenge": (
        lambda value: CHALLENGE.fullmatch(value) is not None,
        "the 43 characters of a SHA-256 in base64url",
    ),
}
_SHORT = 20
# An authorization, and its request as the gateway received it.
Asked = tuple[Visit, Exchange | None]
# A scope as a separate word, not as a part of a longer name.
_SCOPE = re.compile(rf"(?<![\w:.-])(?:{'|'.join(map(re.escape, SCOPES))})(?![\w:-]|\.\w)")


def names_https_addresses(registrations: Iterable[ReceivedRequest]) -> None:
    """Expects that every redirect URI is HTTPS."""
    for each in registrations:
        uris = _member(each, "redirect_uris")
        found = uris if isinstance(uris, list) else [uris]
        expect.that(
            bool(found) and all(str(uri).lower().startswith("https://") for uri in found),
            "redirect_uris of the registration",
            expected="HTTPS addresses",
            got=", ".join(str(uri).partition("?")[0] for uri in found) or "none",
            exchange=each.exchange(),
        )


def names_its_method(registrations: Iterable[ReceivedRequest]) -> None:
    """Expects the method client_secret_post, the only one for agents."""
    for each in registrations:
        method = _member(each, "token_endpoint_auth_method")
        expect.that(
            method == "client_secret_post",
            "token_endpoint_auth_method of the registration",
            expected="client_secret_post",
            got="nothing" if method is None else method,
            exchange=each.exchange(),
        )


def names_no_scope(registrations: Iterable[ReceivedRequest]) -> None:
    """Expects no scope of the Resource in the body, as a name or in a value, or in the URL."""
    for each in registrations:
        named = list(_scopes_in(each.call.json()))
        named += [("the address", scope) for scope in _SCOPE.findall(unquote(each.call.target))]
        expect.that(
            not named,
            "scopes of the registration",
            expected="no scope of the Resource",
            got=", ".join(dict.fromkeys(f"{member}: {scope}" for member, scope in named)),
            exchange=each.exchange(),
        )


def authorizations(runs: Iterable[Run]) -> list[Asked]:
    """Every authorization of these runs."""
    return [(visit, run.request_of(visit)) for run in runs for visit in run.visits]


def clients_of(install: Install) -> list[AgentClient]:
    """The client IDs and secrets that the gateway issued to the install."""
    return list(install.world.gateway_endpoints.clients.values())


def asks_for_everything(found: Iterable[Asked], clients: Iterable[AgentClient]) -> None:
    """Expects each required parameter once, with a value that fits one of these registrations."""
    registered = {uri for client in clients for uri in client.redirect_uris}
    for visit, asked in found:
        for name in _REQUIRED:
            times = len(visit.query.get(name, []))
            what = f"how often {name} is in the authorization request"
            expect.that(times == 1, what, expected="once", got=f"{times} times", exchange=asked)
        for name, (holds, expected) in _VALUES.items():
            value = visit.value(name) or ""
            expect.that(holds(value), name, expected=expected, got=_length_of_secret(value), exchange=asked)
        expect.that(
            visit.value("redirect_uri") in registered,
            "redirect_uri",
            expected="one of those that were registered",
            got=(visit.value("redirect_uri") or "").partition("?")[0],
            exchange=asked,
        )


def asks_for_scopes(found: Iterable[Asked]) -> None:
    """Expects `openid` and a scope of the Resource in the scope."""
    for visit, asked in found:
        named = (visit.value("scope") or "").split(" ")
        expect.that(
            "openid" in named and bool(set(SCOPES).intersection(named)),
            "scope of the authorization request",
            expected=f"openid and {' or '.join(SCOPES)}",
            got=" ".join(named),
            exchange=asked,
        )


def writes_spaces_as_percent_20(found: Iterable[Asked]) -> None:
    """Expects that spaces in the scope are encoded as %20, not as a plus sign."""
    for visit, asked in found:
        pairs = visit.url.partition("?")[2].partition("#")[0].split("&")
        raw = [
            value for name, _, value in (pair.partition("=") for pair in pairs) if unquote(name) == "scope"
        ]
        expect.that(
            bool(raw) and all("%20" in value and "+" not in value and " " not in value for value in raw),
            "scope as it is written in the address",
            expected="scopes with %20 between them",
            got=" and ".join(raw) or "no scope",
            exchange=asked,
        )


def is_a_form(exchanges: Iterable[ReceivedRequest]) -> None:
    """Expects that the token request is a form with the right Content-Type."""
    for each in exchanges:
        label = each.call.media_type()
        expect.that(
            label == "application/x-www-form-urlencoded",
            "content type of the token request",
            expected="application/x-www-form-urlencoded",
            got=label or "none",
            exchange=each.exchange(),
        )
        expect.equal(each.call.form().get("grant_type"), "authorization_code", "grant_type")


def has_credentials_in_its_body(exchanges: Sequence[ReceivedRequest], clients: Iterable[AgentClient]) -> None:
    """Expects ID and secret of one of these clients in the form, and no Basic header.

    Any other Authorization header is recorded: the specification names only client_secret_basic.
    """
    own = {client.client_id: client.secret for client in clients}
    for each in exchanges:
        given = {name: each.call.form().get(name, "") for name in ("client_id", "client_secret")}
        secret = own.get(given["client_id"])
        rights = {"client_id": secret is not None, "client_secret": given["client_secret"] == secret}
        for name, right in rights.items():
            expect.that(
                right,
                f"{name} in the body of the token request",
                expected="the client's own, with reserved characters encoded for a form",
                got="another one" if given[name] else "nothing",
                exchange=each.exchange(),
            )
        observe(authorization_header=each.call.header("authorization") is not None)
    authenticates_in_the_body_alone(exchanges)


def authenticates_in_the_body_alone(requests: Iterable[ReceivedRequest]) -> None:
    """Expects no Basic header, which is unsupported for agents, and no secret in the token request's URL."""
    for each in requests:
        query = parse_qs(urlsplit(each.call.target).query)
        expect.that(
            "client_secret" not in query,
            "the address of the token request",
            expected="no client_secret in it: it belongs in the body (RFC 6749 section 2.3.1)",
            got="a client_secret",
            exchange=each.exchange(),
        )
        schemes = [value.partition(" ")[0].lower() for value in each.call.headers_named("authorization")]
        expect.that(
            "basic" not in schemes,
            "how the client authenticates beside the body of the token request",
            expected="in no other way: client_secret_basic is not supported for agents",
            got="a Basic header",
            exchange=each.exchange(),
        )


def repeats_its_redirect_uri(exchanges: Iterable[ReceivedRequest], found: Iterable[Asked]) -> None:
    """Expects the redirect URI of the authorization that gave the code."""
    used = _by_code(found, "redirect_uri")
    for each in exchanges:
        code, given = each.call.form().get("code", ""), each.call.form().get("redirect_uri")
        expect.that(
            given in ({used[code]} if code in used else set(used.values())) - {None},
            "redirect_uri of the token request",
            expected="the one of the authorization request that brought the code",
            got="nothing" if given is None else given.partition("?")[0],
            exchange=each.exchange(),
        )


def proves_its_code(exchanges: Iterable[ReceivedRequest], found: Iterable[Asked]) -> None:
    """Expects that the S256 of the verifier is the challenge of the authorization that gave the code."""
    challenges = _by_code(found, "code_challenge")
    for each in exchanges:
        verifier = each.call.form().get("code_verifier", "")
        expect.that(
            bool(verifier) and s256(verifier) == challenges.get(each.call.form().get("code", "")),
            "code_verifier of the token request",
            expected="the one whose S256 is the code_challenge",
            got=f"{len(verifier)} characters that are not it" if verifier else "nothing",
            exchange=each.exchange(),
        )


def _by_code(found: Iterable[Asked], parameter: str) -> Mapping[str, str | None]:
    return {code: visit.value(parameter) for visit, _ in found for code in visit.codes()}


def _length_of_secret(value: str) -> str:
    """The value, or only its length if it is so long that it may be a secret."""
    return value if len(value) <= _SHORT else f"{len(value)} characters that are not that"


def _member(registration: ReceivedRequest, name: str) -> Any:
    """The value of this member, or None if it is missing."""
    record = registration.call.json()
    return record.get(name) if isinstance(record, dict) else None


def _scopes_in(record: Any, member: str = "the body") -> Iterator[tuple[str, str]]:
    """Every scope of the Resource at any depth, with the name of the member that contains it."""
    if isinstance(record, dict):
        for name, value in record.items():
            yield from ((member, scope) for scope in _SCOPE.findall(unquote(str(name))))
            yield from _scopes_in(value, str(name))
    elif isinstance(record, list):
        for value in record:
            yield from _scopes_in(value, member)
    elif isinstance(record, str):
        yield from ((member, scope) for scope in _SCOPE.findall(unquote(record)))
