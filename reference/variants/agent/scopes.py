"""Legal ways for an agent to choose scopes and to check the granted ones."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from gateproof.reference.agent.policy import authorization, discovery, exchange
from gateproof.reference.agent.policy.authorization import Attempt
from gateproof.reference.agent.policy.discovery import Endpoints
from gateproof.reference.agent.policy.operation import Ask, Tokens
from gateproof.reference.agent.policy.registration import Client
from gateproof.reference.agent.policy.renewal import refreshed
from gateproof.reference.agent.settings import Settings
from gateproof.reference.agent.wire import Answer, Failed
from gateproof.reference.variants.variant import variant


def _as_granted(tokens: Mapping[str, Any], asked: str) -> None:
    """Refuses scopes beyond the requested ones; an absent `scope` means those (RFC 6749 section 5.1)."""
    if not set(tokens.get("scope", asked).split()) <= set(asked.split()):
        raise Failed("the gateway grants scopes that nobody asked for")


def _no_more_than(scopes: Callable[[Settings], Sequence[str]]) -> dict[str, Any]:
    """Requests these scopes, and refuses tokens with more, as strict libraries do."""
    asked: list[str] = []

    def parameters(settings: Settings, client: Client, attempt: Attempt) -> dict[str, str]:
        asked[:] = [" ".join(("openid", *scopes(settings)))]
        return authorization.authorization_parameters(settings, client, attempt) | {"scope": asked[0]}

    def tokens_in(answer: Answer) -> dict[str, Any] | None:
        tokens = exchange.tokens_in(answer)
        if tokens is not None:
            _as_granted(tokens, asked[0])
        return tokens

    def renewed(ask: Ask, endpoints: Endpoints, client: Client, kept: Tokens) -> dict[str, Any] | None:
        tokens = refreshed(ask, endpoints, client, kept)
        if tokens is not None:
            _as_granted(tokens, kept.get("scope", ""))
        return tokens

    return {
        "authorization_parameters": parameters,
        "tokens_in": tokens_in,
        "renewed": renewed,
        "worth_keeping": dict,
    }


def _as_listed(may_go_on: Callable[[Mapping[str, Any]], bool]) -> dict[str, Any]:
    """Requests the scopes that the metadata list, and `openid` in any case."""
    listed: list[str] = []

    def is_about(metadata: Mapping[str, Any], service_url: str) -> bool:
        listed[:] = metadata.get("scopes_supported", [])
        return discovery.is_about(metadata, service_url)

    def endpoints(server: str, document: Mapping[str, Any]) -> Endpoints:
        if not may_go_on({**document, "scopes_supported": listed}):
            raise Failed("the documents do not list what an agent needs")
        return discovery.endpoints(server, document)

    def parameters(settings: Settings, client: Client, attempt: Attempt) -> dict[str, str]:
        scope = " ".join(dict.fromkeys(("openid", *(listed or settings.scopes))))
        return authorization.authorization_parameters(settings, client, attempt) | {"scope": scope}

    return {"is_about": is_about, "endpoints": endpoints, "authorization_parameters": parameters}


def _lists_its_own(documents: Mapping[str, Any]) -> bool:
    """True if openid is listed, and client_secret_post before other methods."""
    methods = documents.get("token_endpoint_auth_methods_supported", [])
    return "openid" in documents["scopes_supported"] and methods[:1] == ["client_secret_post"]


VARIANTS = (
    variant(
        "asks-for-listed-scopes-and-openid: the agent requests the scopes that the metadata list, and openid",
        **_as_listed(lambda _: True),
    ),
    variant(
        "stops-where-its-own-is-not-listed: the agent stops if the metadata do not list openid, or the "
        "gateway does not list client_secret_post first",
        **_as_listed(_lists_its_own),
    ),
    variant(
        "refuses-scopes-unasked: the agent refuses a token response that grants a scope which it did not "
        "request",
        **_no_more_than(lambda settings: settings.scopes),
    ),
    variant(
        "asks-for-one-scope: the agent requests only the first scope of the Resource, and refuses a token "
        "response that grants others",
        **_no_more_than(lambda settings: settings.scopes[:1]),
    ),
)
