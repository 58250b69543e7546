"""Tokens of another issuer, which publishes its keys like the gateway."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import urlsplit

from gateproof.conformance.checks.service._altered_tokens import USER, good_token, refused
from gateproof.conformance.kit.authority import is_for
from gateproof.conformance.kit.service.service import Service
from gateproof.conformance.kit.service.world import ServiceWorld
from gateproof.conformance.suite.check import check
from gateproof.fakes.gateway.keys import new_key, signed
from gateproof.fakes.other_issuer import OtherIssuer


@check("CHAL-05", cases=("at-its-own-host", "with-the-cores-path"))
def token_that_verifies_at_its_own_issuer_gets_the_challenge(
    service: Service, world: ServiceWorld, case: str
) -> None:
    """A token of another issuer, signed with a key that this issuer publishes, gets the challenge.

    A service must take the issuer from the Resource's discovery document, and not from the token.
    """
    gateway = world.gateway
    good_token(service, world)
    key = new_key(gateway.core_key.algorithm)
    path = urlsplit(gateway.issuer).path if case == "with-the-cores-path" else ""
    with OtherIssuer(key.jwk, _certificate(world)) as other:
        refused(service, world, signed(gateway.claims(USER, iss=f"{other.url}{path}"), key))


def _certificate(world: ServiceWorld) -> tuple[str, str] | None:
    """The world's certificate, if it is valid for the other issuer's host."""
    named = world.secure and is_for(Path(world.certificate[0]), "localhost")
    return world.certificate if named else None
