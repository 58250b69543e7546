"""Other legal ways to write the redirect URI and the granted scopes in an answer."""

from __future__ import annotations

from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

from gateproof.reference.deviations.hidden_fields import request_in_the_form
from gateproof.reference.gateway.policy import token_claims
from gateproof.reference.gateway.policy.discovery import REDEMPTION_SCOPE
from gateproof.reference.gateway.policy.registration import REGISTRATION_CHECKS, RegistrationFacts
from gateproof.reference.gateway.records import AuthorizationRequest
from gateproof.reference.outcomes import JsonObject, Refusal
from gateproof.reference.variants.variant import variant

_LONGEST = 255


def _encoded_anew(request: AuthorizationRequest, code: str, _issuer: str) -> str:
    """Decodes and encodes the URI's own query again, with a plus for a space."""
    parts = urlsplit(request.redirect_uri)
    own = parse_qsl(parts.query, keep_blank_values=True)
    query = urlencode([("state", request.state), *own, ("code", code)])
    return urlunsplit(parts._replace(query=query))


def _plain_uris_alone(facts: RegistrationFacts) -> Refusal | None:
    uris = facts.metadata.get("redirect_uris")
    texts = [uri for uri in uris if isinstance(uri, str)] if isinstance(uris, list) else []
    if not any(len(uri) > _LONGEST or "%" in uri for uri in texts):
        return None
    return Refusal(status=400, error="invalid_redirect_uri", description="a plainer redirect URI, please")


def _with_a_prefix(facts: token_claims.TokenFacts, tokens: token_claims.Tokens) -> JsonObject:
    """Lists only the Resource's scopes, each as a URL."""
    granted = [scope for scope in facts.scopes if scope not in ("openid", REDEMPTION_SCOPE)]
    scope = " ".join(f"https://scopes.gateway.example/{name}" for name in granted)
    return {**token_claims.token_answer(facts, tokens), "scope": scope}


VARIANTS = (
    variant(
        "query-of-the-redirect-uri-encoded-anew: the redirect has the query of the registered redirect URI "
        "in another encoding, between state and code",
        code_redirect=_encoded_anew,
    ),
    variant(
        "plain-redirect-uris-alone: the gateway does not register a redirect URI with an escape, or with "
        "more than 255 characters",
        registration_checks=(*REGISTRATION_CHECKS, _plain_uris_alone),
    ),
    variant(
        "request-repeated-in-the-form: the approve form has client ID and redirect URI in hidden fields, "
        "which the gateway ignores",
        **request_in_the_form(),
    ),
    variant(
        "scopes-with-a-prefix: the scope of a token response lists the Resource's scopes, each as a URL",
        token_answer=_with_a_prefix,
    ),
)
