"""What a registration and an exchange have to be, whenever an agent makes one."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from conformance.agent import s256
from conformance.claims import expect, observe
from conformance.run.agent_visits import Visit
from conformance.run.agent_world import SCOPES, Heard
from fakes.gateway.desk import AgentClient

# What stands around scopes where JSON has several of them.
_QUOTES = str.maketrans('"[]{},', "      ")


def names_https_addresses(registrations: Iterable[Heard]) -> None:
    """Every redirect URI is HTTPS."""
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


def names_its_method(registrations: Iterable[Heard]) -> None:
    """The method is the one by which agents authenticate."""
    for each in registrations:
        method = _member(each, "token_endpoint_auth_method")
        expect.that(
            method == "client_secret_post",
            "token_endpoint_auth_method of the registration",
            expected="client_secret_post",
            got="nothing" if method is None else method,
            exchange=each.exchange(),
        )


def names_no_scope(registrations: Iterable[Heard]) -> None:
    """No scope of the Resource is there, under any name that speaks of scopes."""
    for each in registrations:
        named = list(_scopes_in(each.call.json()))
        expect.that(
            not any(set(SCOPES).intersection(scopes) for _, scopes in named),
            "scopes of the registration",
            expected="no scope of the Resource",
            got=", ".join(f"{member}: {' '.join(scopes)}" for member, scopes in named),
            exchange=each.exchange(),
        )


def is_a_form(exchanges: Iterable[Heard]) -> None:
    """The token request is a form, and says so."""
    for each in exchanges:
        label = (each.call.header("content-type") or "").partition(";")[0].strip().lower()
        expect.that(
            label == "application/x-www-form-urlencoded",
            "content type of the token request",
            expected="application/x-www-form-urlencoded",
            got=label or "none",
            exchange=each.exchange(),
        )
        expect.equal(each.call.form().get("grant_type"), "authorization_code", "grant_type")


def has_credentials_in_its_body(exchanges: Iterable[Heard], clients: Iterable[AgentClient]) -> None:
    """Client ID and secret are fields of the form, and are those of one of these clients."""
    own = {client.client_id: client.secret for client in clients}
    for each in exchanges:
        given = {name: each.call.form().get(name, "") for name in ("client_id", "client_secret")}
        secret = own.get(given["client_id"])
        rights = {"client_id": secret is not None, "client_secret": given["client_secret"] == secret}
        for name, right in rights.items():
            expect.that(
                right,
                f"{name} in the body of the token request",
                expected="the client's own, with everything encoded that means something else in a form",
                got="another one" if given[name] else "nothing",
                exchange=each.exchange(),
            )
        observe(authorization_header=each.call.header("authorization") is not None)


def repeats_its_redirect_uri(exchanges: Iterable[Heard], visits: Sequence[Visit]) -> None:
    """The redirect URI is, to the letter, that of the authorization which brought the code."""
    used = _by_code(visits, "redirect_uri")
    for each in exchanges:
        code, given = each.call.form().get("code", ""), each.call.form().get("redirect_uri")
        expect.that(
            given in ({used[code]} if code in used else set(used.values())) - {None},
            "redirect_uri of the token request",
            expected="the one of the authorization request that brought the code",
            got="nothing" if given is None else given.partition("?")[0],
            exchange=each.exchange(),
        )


def proves_its_code(exchanges: Iterable[Heard], visits: Sequence[Visit]) -> None:
    """The S256 of the verifier is the challenge of the authorization which brought the code."""
    challenges = _by_code(visits, "code_challenge")
    for each in exchanges:
        verifier = each.call.form().get("code_verifier", "")
        expect.that(
            bool(verifier) and s256(verifier) == challenges.get(each.call.form().get("code", "")),
            "code_verifier of the token request",
            expected="the one whose S256 is the code_challenge",
            got=f"{len(verifier)} characters that are not it" if verifier else "nothing",
            exchange=each.exchange(),
        )


def _by_code(visits: Sequence[Visit], parameter: str) -> Mapping[str, str | None]:
    return {code: visit.value(parameter) for visit in visits for code in visit.codes()}


def _member(registration: Heard, name: str) -> Any:
    """None where it is not there."""
    record = registration.call.json()
    return record.get(name) if isinstance(record, dict) else None


def _scopes_in(record: Any) -> Iterator[tuple[str, list[str]]]:
    """What a registration has under any name that speaks of scopes, however deep."""
    members = dict(enumerate(record)) if isinstance(record, list) else record
    for name, value in members.items() if isinstance(members, dict) else ():
        if "scope" in str(name).lower():
            yield str(name), json.dumps(value).translate(_QUOTES).split()
        else:
            yield from _scopes_in(value)
