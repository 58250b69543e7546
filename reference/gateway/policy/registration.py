"""Dynamic client registration: the checks, and the answer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import SplitResult, urlsplit

from gateproof.reference.gateway.records import Agent
from gateproof.reference.ids import Ids, fingerprint
from gateproof.reference.outcomes import JsonObject, Refusal

AUTH_METHOD = "client_secret_post"
GRANT_TYPES = ("authorization_code", "refresh_token")
MOST_REDIRECT_URIS = 50
LONGEST_REDIRECT_URI = 2048
LONGEST_NAME = 200
# Printable ASCII characters that RFC 3986 does not allow in a URI.
NEVER_IN_A_URI = frozenset('"<>\\^`{|} ')


@dataclass(frozen=True, kw_only=True, slots=True)
class RegistrationFacts:
    """A registration request; `metadata` is the JSON value of the body, None if there is none."""

    authorization: str | None = field(repr=False)
    metadata: Any

    def value(self, name: str) -> Any:
        return self.metadata.get(name) if isinstance(self.metadata, dict) else None


@dataclass(frozen=True, kw_only=True, slots=True)
class NewAgent:
    """A new agent and its secret, which is shown only once."""

    agent: Agent
    secret: str = field(repr=False)


RegistrationCheck = Callable[[RegistrationFacts], Refusal | None]


def metadata_is_an_object(facts: RegistrationFacts) -> Refusal | None:
    if isinstance(facts.metadata, dict):
        return None
    return _metadata("the body has to be a JSON object")


def redirect_uris_are_given(facts: RegistrationFacts) -> Refusal | None:
    uris = facts.value("redirect_uris")
    good = isinstance(uris, list) and 0 < len(uris) <= MOST_REDIRECT_URIS
    if good and all(isinstance(uri, str) and 0 < len(uri) <= LONGEST_REDIRECT_URI for uri in uris):
        return None
    return _redirect_uri(f"redirect_uris has to be an array of 1 to {MOST_REDIRECT_URIS} strings")


def redirect_uris_are_https(facts: RegistrationFacts) -> Refusal | None:
    """Every URI has to be https; one good URI is not enough."""
    if all(_is_https(uri) for uri in facts.value("redirect_uris")):
        return None
    return _redirect_uri("every redirect URI has to be an absolute https URI")


def redirect_uris_have_no_fragment(facts: RegistrationFacts) -> Refusal | None:
    if not any("#" in uri for uri in facts.value("redirect_uris")):
        return None
    return _redirect_uri("a redirect URI has no fragment")


def auth_method_is_supported(facts: RegistrationFacts) -> Refusal | None:
    if facts.value("token_endpoint_auth_method") in (None, AUTH_METHOD):
        return None
    return _metadata(f"token_endpoint_auth_method has to be {AUTH_METHOD}")


def grants_are_supported(facts: RegistrationFacts) -> Refusal | None:
    grants, responses = facts.value("grant_types"), facts.value("response_types")
    known = grants is None or _all_in(grants, GRANT_TYPES)
    if (
        known
        and (grants is None or "authorization_code" in grants)
        and (responses is None or _all_in(responses, ("code",)))
    ):
        return None
    return _metadata("supported are the grants authorization_code and refresh_token with response type code")


def name_is_short(facts: RegistrationFacts) -> Refusal | None:
    name = facts.value("client_name")
    if name is None or (isinstance(name, str) and len(name) <= LONGEST_NAME):
        return None
    return _metadata(f"client_name has to be a string of at most {LONGEST_NAME} characters")


REGISTRATION_CHECKS: tuple[RegistrationCheck, ...] = (
    metadata_is_an_object,
    redirect_uris_are_given,
    redirect_uris_have_no_fragment,
    redirect_uris_are_https,
    auth_method_is_supported,
    grants_are_supported,
    name_is_short,
)


def new_agent(facts: RegistrationFacts, ids: Ids, now: float) -> NewAgent:
    """Every registration creates a new client. Scopes and other metadata are not kept."""
    uris = tuple(facts.value("redirect_uris"))
    secret = ids.secret()
    agent = Agent(
        id=ids.identifier("agent_"),
        secret=fingerprint(secret),
        name=facts.value("client_name") or domain_of(uris),
        redirect_uris=uris,
        grant_types=tuple(facts.value("grant_types") or GRANT_TYPES),
        response_types=tuple(facts.value("response_types") or ("code",)),
        auth_method=facts.value("token_endpoint_auth_method") or AUTH_METHOD,
        registered_at=now,
    )
    return NewAgent(agent=agent, secret=secret)


def registration_answer(new: NewAgent) -> JsonObject:
    """The registered metadata, with the secret."""
    return {
        "client_id": new.agent.id,
        "client_secret": new.secret,
        "client_id_issued_at": int(new.agent.registered_at),
        "client_secret_expires_at": 0,
        "client_name": new.agent.name,
        "redirect_uris": list(new.agent.redirect_uris),
        "grant_types": list(new.agent.grant_types),
        "response_types": list(new.agent.response_types),
        "token_endpoint_auth_method": new.agent.auth_method,
        "verification_method": "none",
    }


def domain_of(redirect_uris: tuple[str, ...]) -> str:
    """The host of the first redirect URI, the only known fact about the agent's origin."""
    parts = _split(redirect_uris[0])
    return (parts.hostname if parts else None) or ""


def _is_https(uri: str) -> bool:
    # Before parsing, because urlsplit and browsers drop tabs and line ends.
    if not uri.isascii() or not uri.isprintable() or set(uri) & NEVER_IN_A_URI:
        return False
    parts = _split(uri)
    return bool(parts and parts.scheme == "https" and parts.hostname and "@" not in parts.netloc)


def _split(uri: str) -> SplitResult | None:
    try:
        parts = urlsplit(uri)
        _ = parts.port
    except ValueError:
        return None
    return parts


def _all_in(values: Any, known: tuple[str, ...]) -> bool:
    return isinstance(values, list) and bool(values) and all(value in known for value in values)


def _metadata(description: str) -> Refusal:
    return Refusal(status=400, error="invalid_client_metadata", description=description)


def _redirect_uri(description: str) -> Refusal:
    return Refusal(status=400, error="invalid_redirect_uri", description=description)
