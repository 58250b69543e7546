"""Services whose challenge has a wrong metadata URL."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import replace
from urllib.parse import urlsplit

from gateproof.reference.defects.service.row import defect
from gateproof.reference.deviations.altered_answers import Answered, Asked, altering_answers
from gateproof.reference.service.backend import Backend
from gateproof.reference.service.policy import metadata_and_challenge
from gateproof.reference.service.policy.metadata_and_challenge import ChallengeFacts


def pointing(where: Callable[[ChallengeFacts], str]) -> Callable[[ChallengeFacts], tuple[str, ...]]:
    """The challenge has this metadata URL."""
    return lambda facts: metadata_and_challenge.challenges(replace(facts, metadata_url=where(facts)))


def on_another_host(url: str, host: str) -> str:
    """The same URL with another host."""
    parts = urlsplit(url)
    return parts._replace(netloc=f"{host}:{parts.port}").geturl()


def to_a_stale_copy(asked: Asked, answered: Answered, backend: Backend) -> Answered:
    """An outdated copy of the document, with another authorization server, is at /metadata.json."""
    if asked.path != "/metadata.json":
        return answered
    document = metadata_and_challenge.metadata_document(backend.settings) | {
        "authorization_servers": [backend.settings.base_url]
    }
    return Answered(
        status=200, headers=(("content-type", "application/json"),), body=json.dumps(document).encode()
    )


DEFECTS = (
    defect(
        "pointer-to-nothing (CHAL-02): The challenge points to a path below the operation that does not "
        "exist.",
        challenges=pointing(
            lambda facts: facts.metadata_url.replace("/.well-known/", "/orders/.well-known/")
        ),
    ),
    defect(
        "pointer-to-the-discovery-document (CHAL-02 META-02 META-03 META-04 META-05): The challenge points "
        "to the authorization server's discovery document.",
        challenges=pointing(lambda facts: f"{facts.authorization_server}/.well-known/openid-configuration"),
    ),
    defect(
        "pointer-in-the-clear (CHAL-02): The challenge points to the metadata with http, as a server behind "
        "a TLS proxy sees its own URL.",
        challenges=pointing(lambda facts: facts.metadata_url.replace("https://", "http://")),
    ),
    defect(
        "pointer-to-the-port-inside (CHAL-02): The challenge points to the internal port of a server behind "
        "a proxy, where nothing listens.",
        challenges=pointing(lambda facts: re.sub(r":\d+/", ":9/", facts.metadata_url)),
    ),
    defect(
        "pointer-to-where-it-listens (CHAL-02): The challenge points to the address 0.0.0.0, to which the "
        "server is bound.",
        challenges=pointing(lambda facts: on_another_host(facts.metadata_url, "0.0.0.0")),  # noqa: S104
    ),
    defect(
        "pointer-to-the-host-inside-for-bad-tokens (CHAL-02): The challenge for a bad token points to the "
        "internal host name of a server behind a proxy.",
        challenges=pointing(
            lambda facts: (
                on_another_host(facts.metadata_url, "orders-svc") if facts.given else facts.metadata_url
            )
        ),
    ),
    defect(
        "pointer-lost-for-bad-tokens (CHAL-02): The challenge for a bad token has undefined in place of the "
        "metadata URL.",
        challenges=pointing(lambda facts: "undefined" if facts.given else facts.metadata_url),
    ),
    defect(
        "pointer-is-a-path (CHAL-02): The challenge has only the path of the metadata URL, without scheme "
        "and host.",
        challenges=pointing(lambda facts: urlsplit(facts.metadata_url).path),
    ),
    defect(
        "pointer-to-a-stale-copy (CHAL-02 META-03 META-05): The challenge points to a copy of the metadata "
        "document that names another authorization server.",
        challenges=pointing(
            lambda facts: facts.metadata_url.partition("/.well-known/")[0] + "/metadata.json"
        ),
        around=altering_answers(to_a_stale_copy),
    ),
)
