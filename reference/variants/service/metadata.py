"""Other legal ways for a service to introduce itself."""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import count
from typing import Any

from gateproof.reference.defects.service.metadata_pointers import on_another_host, pointing
from gateproof.reference.deviations.altered_answers import Answered, Asked, meddling
from gateproof.reference.deviations.tls_listeners import AnotherPort
from gateproof.reference.service.backend import Backend
from gateproof.reference.service.policy import introduction
from gateproof.reference.service.policy.introduction import ChallengeFacts
from gateproof.reference.service.settings import Settings
from gateproof.reference.variants.variant import variant

ANOTHER_SERVER = "https://login.operator.example"


def _with_more(settings: Settings) -> dict[str, Any]:
    return {
        "resource_name": "Orders",
        "scopes_supported": ["orders:read"],
        "x-note": {"nested": [None, 1.5]},
        **introduction.metadata_document(settings),
    }


def _two_servers(settings: Settings) -> dict[str, Any]:
    return introduction.metadata_document(settings) | {
        "authorization_servers": [ANOTHER_SERVER, settings.authorization_server]
    }


def _two_servers_by_turns() -> Callable[[Settings], dict[str, Any]]:
    """What is kept as a set comes out as it likes."""
    turns = count()

    def document(settings: Settings) -> dict[str, Any]:
        found = _two_servers(settings)
        if next(turns) % 2:
            found["authorization_servers"].reverse()
        return found

    return document


def _in_another_spelling(settings: Settings) -> dict[str, Any]:
    scheme, _, rest = settings.authorization_server.partition(":")
    return introduction.metadata_document(settings) | {
        "authorization_servers": [f"{scheme.upper()}:{rest.replace('res_', 'res%5f', 1)}"]
    }


def _for_a_path(settings: Settings) -> dict[str, Any]:
    return introduction.metadata_document(settings) | {"resource": f"{settings.service_url}/orders"}


def _of_the_host_too(asked: Asked, answered: Answered, backend: Backend) -> Answered:
    """The host has a document of its own, where RFC 9728 puts the one of a resource without a path."""
    if asked.path != "/.well-known/oauth-protected-resource":
        return answered
    body = json.dumps(introduction.metadata_document(backend.settings)).encode()
    return Answered(status=200, headers=(("content-type", "application/json"),), body=body)


def _by_name(settings: Settings) -> dict[str, Any]:
    return introduction.metadata_document(settings) | {"resource": "urn:operator:orders"}


def _quoted(facts: ChallengeFacts) -> str:
    return f'resource_metadata="{facts.metadata_url}"'


_DOCUMENTS = AnotherPort()

VARIANTS = (
    variant(
        "metadata-for-a-path: the resource has a path, and its metadata stand where RFC 9728 puts those of "
        "a path",
        metadata_path=lambda _: "/.well-known/oauth-protected-resource/orders",
        metadata_document=_for_a_path,
    ),
    variant(
        "metadata-for-a-path-and-for-the-host: the resource has a path, and the host that it is on is a "
        "resource of its own",
        metadata_path=lambda _: "/.well-known/oauth-protected-resource/orders",
        metadata_document=_for_a_path,
        around=meddling(_of_the_host_too),
    ),
    variant(
        "metadata-at-a-path-of-its-own (META-05): the metadata stand at a path that only the challenge tells",
        metadata_path=lambda _: "/about/authorization.json",
    ),
    variant(
        "metadata-on-a-port-of-their-own (META-05): the metadata are where a server for documents is, and "
        "the resource is not",
        listen=_DOCUMENTS.beside(),
        challenges=pointing(lambda facts: _DOCUMENTS.on_it(facts.metadata_url)),
    ),
    variant(
        "pointer-by-another-name-for-bad-tokens: the challenge for a bad token calls the machine by another "
        "name than the target file",
        challenges=pointing(
            lambda facts: (
                on_another_host(facts.metadata_url, "localhost") if facts.given else facts.metadata_url
            )
        ),
    ),
    variant(
        "resource-by-name (META-05): the resource is an identifier, and no URL",
        metadata_document=_by_name,
    ),
    variant("metadata-with-more: the metadata have more members", metadata_document=_with_more),
    variant(
        "two-authorization-servers: the metadata name another authorization server first",
        metadata_document=_two_servers,
    ),
    variant(
        "authorization-servers-by-turns: the metadata name two authorization servers, now the one first and "
        "now the other",
        metadata_document=_two_servers_by_turns(),
    ),
    variant(
        "authorization-server-in-another-spelling: the metadata write the authorization server's URL with a "
        "scheme in capitals and a needless escape",
        metadata_document=_in_another_spelling,
    ),
    variant(
        "metadata-with-a-charset: the metadata's media type has a parameter, in capitals",
        metadata_type='Application/JSON; Charset="UTF-8"',
    ),
    variant(
        "pointer-unquoted: the address in the challenge is not quoted, as in the specification",
        challenges=lambda facts: (f"Bearer resource_metadata={facts.metadata_url}",),
    ),
    variant(
        "pointer-last: the challenge has a realm, a scope and an error before the address",
        challenges=lambda facts: (
            f'Bearer realm="a, \\"b\\"", scope="openid orders:read", error="invalid_token", {_quoted(facts)}',
        ),
    ),
    variant(
        "quotes-inside-quotes: the challenge for a bad token quotes a message with quotes in it, as it comes",
        challenges=lambda facts: (
            f'Bearer error="invalid_token", error_description="unexpected "aud" claim", {_quoted(facts)}'
            if facts.given
            else f"Bearer {_quoted(facts)}",
        ),
    ),
    variant(
        "no-error-ever: the challenge is the same for everybody",
        challenges=lambda facts: (f"Bearer {_quoted(facts)}",),
    ),
    variant(
        "two-challenges-in-one-header: a challenge for another scheme stands before the one for Bearer",
        challenges=lambda facts: (f'Basic realm="staff", Bearer {_quoted(facts)}, error="invalid_token"',),
    ),
    variant(
        "two-challenges-in-two-headers: a challenge for another scheme has a header of its own",
        challenges=lambda facts: ("Negotiate", f"Bearer {_quoted(facts)}"),
    ),
    variant(
        "bearer-in-lower-case: the challenge writes scheme and parameter in other letters",
        challenges=lambda facts: (f'bearer Resource_Metadata="{facts.metadata_url}"',),
    ),
)
