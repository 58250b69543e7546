"""Other legal metadata and challenges of a service."""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import count
from typing import Any

from gateproof.reference.defects.service.metadata_pointers import on_another_host, pointing
from gateproof.reference.deviations.altered_answers import Answered, Asked, altering_answers
from gateproof.reference.deviations.tls_listeners import AnotherPort
from gateproof.reference.service.backend import Backend
from gateproof.reference.service.policy import metadata_and_challenge
from gateproof.reference.service.policy.metadata_and_challenge import ChallengeFacts
from gateproof.reference.service.settings import Settings
from gateproof.reference.variants.variant import variant

ANOTHER_SERVER = "https://login.operator.example"


def _with_more(settings: Settings) -> dict[str, Any]:
    return {
        "resource_name": "Orders",
        "scopes_supported": ["orders:read"],
        "x-note": {"nested": [None, 1.5]},
        **metadata_and_challenge.metadata_document(settings),
    }


def _two_servers(settings: Settings) -> dict[str, Any]:
    return metadata_and_challenge.metadata_document(settings) | {
        "authorization_servers": [ANOTHER_SERVER, settings.authorization_server]
    }


def _two_servers_by_turns() -> Callable[[Settings], dict[str, Any]]:
    """Lists two servers in varying order, as a set does."""
    turns = count()

    def document(settings: Settings) -> dict[str, Any]:
        found = _two_servers(settings)
        if next(turns) % 2:
            found["authorization_servers"].reverse()
        return found

    return document


def _in_another_spelling(settings: Settings) -> dict[str, Any]:
    scheme, _, rest = settings.authorization_server.partition(":")
    return metadata_and_challenge.metadata_document(settings) | {
        "authorization_servers": [f"{scheme.upper()}:{rest.replace('res_', 'res%5f', 1)}"]
    }


def _for_a_path(settings: Settings) -> dict[str, Any]:
    return metadata_and_challenge.metadata_document(settings) | {"resource": f"{settings.service_url}/orders"}


def _of_the_host_too(asked: Asked, answered: Answered, backend: Backend) -> Answered:
    """Serves a second document at the address that RFC 9728 has for a resource without a path."""
    if asked.path != "/.well-known/oauth-protected-resource":
        return answered
    body = json.dumps(metadata_and_challenge.metadata_document(backend.settings)).encode()
    return Answered(status=200, headers=(("content-type", "application/json"),), body=body)


def _by_name(settings: Settings) -> dict[str, Any]:
    return metadata_and_challenge.metadata_document(settings) | {"resource": "urn:operator:orders"}


def _quoted(facts: ChallengeFacts) -> str:
    return f'resource_metadata="{facts.metadata_url}"'


_DOCUMENTS = AnotherPort()

VARIANTS = (
    variant(
        "metadata-for-a-path: the resource has a path, and its metadata are at the address that RFC 9728 "
        "has for this path",
        metadata_path=lambda _: "/.well-known/oauth-protected-resource/orders",
        metadata_document=_for_a_path,
    ),
    variant(
        "metadata-for-a-path-and-for-the-host: the resource has a path, and its host is another resource "
        "with its own metadata",
        metadata_path=lambda _: "/.well-known/oauth-protected-resource/orders",
        metadata_document=_for_a_path,
        around=altering_answers(_of_the_host_too),
    ),
    variant(
        "metadata-at-a-path-of-its-own (META-05): the metadata are at a path that only the challenge names",
        metadata_path=lambda _: "/about/authorization.json",
    ),
    variant(
        "metadata-on-a-port-of-their-own (META-05): the metadata are on another port than the resource",
        listen=_DOCUMENTS.beside(),
        challenges=pointing(lambda facts: _DOCUMENTS.on_it(facts.metadata_url)),
    ),
    variant(
        "pointer-by-another-name-for-bad-tokens: the challenge for a bad token has another host name than "
        "the target file",
        challenges=pointing(
            lambda facts: (
                on_another_host(facts.metadata_url, "localhost") if facts.given else facts.metadata_url
            )
        ),
    ),
    variant(
        "resource-by-name (META-05): the resource is an identifier that is not a URL",
        metadata_document=_by_name,
    ),
    variant("metadata-with-more: the metadata have additional members", metadata_document=_with_more),
    variant(
        "two-authorization-servers: the metadata list another authorization server first",
        metadata_document=_two_servers,
    ),
    variant(
        "authorization-servers-by-turns: the metadata list two authorization servers in alternating order",
        metadata_document=_two_servers_by_turns(),
    ),
    variant(
        "authorization-server-in-another-spelling: the metadata have the authorization server's URL with "
        "the scheme in capitals and an unnecessary escape",
        metadata_document=_in_another_spelling,
    ),
    variant(
        "metadata-with-a-charset: the Content-Type of the metadata has a charset, and capital letters",
        metadata_type='Application/JSON; Charset="UTF-8"',
    ),
    variant(
        "pointer-unquoted: the URL in the challenge is not quoted, as in the specification",
        challenges=lambda facts: (f"Bearer resource_metadata={facts.metadata_url}",),
    ),
    variant(
        "pointer-last: the challenge has a realm, a scope and an error before the URL",
        challenges=lambda facts: (
            f'Bearer realm="a, \\"b\\"", scope="openid orders:read", error="invalid_token", {_quoted(facts)}',
        ),
    ),
    variant(
        "quotes-inside-quotes: the challenge for a bad token has an error_description with unescaped quotes",
        challenges=lambda facts: (
            f'Bearer error="invalid_token", error_description="unexpected "aud" claim", {_quoted(facts)}'
            if facts.given
            else f"Bearer {_quoted(facts)}",
        ),
    ),
    variant(
        "no-error-ever: the challenge never has an error",
        challenges=lambda facts: (f"Bearer {_quoted(facts)}",),
    ),
    variant(
        "two-challenges-in-one-header: the header has a challenge for another scheme before the one for "
        "Bearer",
        challenges=lambda facts: (f'Basic realm="staff", Bearer {_quoted(facts)}, error="invalid_token"',),
    ),
    variant(
        "two-challenges-in-two-headers: a challenge for another scheme is in a separate header",
        challenges=lambda facts: ("Negotiate", f"Bearer {_quoted(facts)}"),
    ),
    variant(
        "bearer-in-lower-case: the challenge has `bearer` in lower case, and a parameter name with capitals",
        challenges=lambda facts: (f'bearer Resource_Metadata="{facts.metadata_url}"',),
    ),
)
