"""The metadata address in a challenge, compared with the one that a request without a token gets."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from ipaddress import ip_address
from typing import Any
from urllib.parse import urlsplit

from gateproof.conformance.kit.service.service import (
    POINTER,
    Service,
    challenges_of,
    document,
    expect_challenge,
)
from gateproof.conformance.signin.addresses import is_web
from gateproof.conformance.suite.claims import LeftOut, expect, require
from gateproof.conformance.wire.documents import in_any_order
from gateproof.conformance.wire.exchange import Exchange
from gateproof.conformance.wire.route import parts_of

# Suffixes of host names that public DNS does not have.
INSIDE = (".local", ".internal", ".svc", ".lan", ".home.arpa")


@dataclass(frozen=True, kw_only=True, slots=True)
class Pointer:
    """The metadata address for a request without a token, and the document there."""

    url: str
    document: Mapping[str, Any]


def first_pointer(service: Service) -> Pointer:
    """The address and the document; another check tests them."""
    url = expect_challenge(service.operate()).parameters[POINTER]
    fetched = service.fetch(url, "metadata by the challenge")
    return Pointer(url=url, document=require(require(fetched).status(200)).json_object())


def expect_same_document(service: Service, first: Pointer, answer: Exchange, when: str) -> None:
    """Expects that the challenge of this answer leads to the same metadata; `when` says what was refused.

    A host that the target file does not name may be another name of the service; nothing is requested from
    it.
    """
    bearers = [each.parameters for each in challenges_of(answer) if each.scheme.lower() == "bearer"]
    there = next((each[POINTER] for each in bearers if POINTER in each), None)
    if there is None:
        raise LeftOut(f"{answer.step} {when} gets no challenge with an address, which other rules judge")
    if there == first.url:
        expect.equal(there, first.url, POINTER)
        return
    parts = parts_of(there)
    expect.that(is_web(there), f"{POINTER} {when}", expected="a URL", got=there, exchange=answer)
    host, own = parts.hostname or "", urlsplit(service.service_url).hostname or ""
    lost = is_unreachable(host) or (_is_private(host) and not _is_private(own))
    expect.that(
        service.wire.may_reach(there) or not lost,
        f"{POINTER} {when}",
        expected=f"{first.url}, as without a token",
        got=there,
        exchange=answer,
    )

    found = document(service.fetch(there, f"metadata by the challenge {when}"))
    for name in ("resource", "authorization_servers"):
        same = in_any_order(found.get(name)) == in_any_order(first.document.get(name))
        expect.that(same, name, expected="the same as without a token", got="another")


def is_unreachable(host: str) -> bool:
    """True for an address on which a server listens but to which no client can connect, such as 0.0.0.0."""
    try:
        return ip_address(host).is_unspecified
    except ValueError:
        return False


def _is_private(host: str) -> bool:
    """True for a name or address of a private network, except the machine's own, which is reachable here."""
    if host == "localhost" or host.endswith(".localhost"):
        return False
    try:
        address = ip_address(host)
    except ValueError:
        return "." not in host.rstrip(".") or host.endswith(INSIDE)
    return address.is_private and not address.is_loopback
