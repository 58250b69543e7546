"""The authorization request, and the validation of the redirect that answers it."""

from __future__ import annotations

import base64
import hashlib
import hmac
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from gateproof.reference.agent.policy.discovery import Endpoints
from gateproof.reference.agent.policy.registration import Client
from gateproof.reference.agent.settings import Settings
from gateproof.reference.agent.wire import Failed, with_query

VERIFIER_OCTETS, STATE_OCTETS = 32, 16
Query = Mapping[str, Sequence[str]]
Octets = Callable[[int], bytes]


@dataclass(frozen=True, kw_only=True, slots=True)
class Attempt:
    """One authorization: its verifier, and the state that the redirect has to return."""

    verifier: str = field(repr=False)
    state: str = field(repr=False)


def fresh_attempt(octets: Octets) -> Attempt:
    """A new random verifier and an independent random state."""
    return Attempt(verifier=_encoded(octets(VERIFIER_OCTETS)), state=_encoded(octets(STATE_OCTETS)))


def challenge_of(verifier: str) -> str:
    """S256 (RFC 7636 section 4.2)."""
    return _encoded(hashlib.sha256(verifier.encode("ascii")).digest())


def authorization_parameters(settings: Settings, client: Client, attempt: Attempt) -> dict[str, str]:
    return {
        "response_type": "code",
        "client_id": client.client_id,
        "redirect_uri": settings.callback_url,
        "scope": " ".join(("openid", *settings.scopes)),
        "state": attempt.state,
        "code_challenge": challenge_of(attempt.verifier),
        "code_challenge_method": "S256",
    }


def authorization_url(endpoints: Endpoints, parameters: Mapping[str, str]) -> str:
    return with_query(endpoints.authorization, parameters)


def may_open(url: str) -> bool:
    """Allows only https, because the user signs in there; other schemes may start other programs."""
    return url.lower().startswith("https://")


def is_ours(query: Query, attempt: Attempt) -> bool:
    """True if the redirect has exactly one state, and it is the one that was sent."""
    states = query.get("state", ())
    return len(states) == 1 and hmac.compare_digest(states[0].encode(), attempt.state.encode())


def code_in(query: Query, endpoints: Endpoints) -> str:
    """The code of a redirect that is ours; a redirect with another issuer is refused (RFC 9207)."""
    issuers, codes = query.get("iss", ()), query.get("code", ())
    if any(issuer != endpoints.issuer for issuer in issuers):
        raise Failed("the redirect comes from another authorization server")
    if len(codes) != 1 or not codes[0]:
        raise Failed(
            f"the gateway refuses the authorization: {next(iter(query.get('error', ())), 'no code')}"
        )
    return codes[0]


def _encoded(octets: bytes) -> str:
    return base64.urlsafe_b64encode(octets).rstrip(b"=").decode("ascii")
