"""Other legal ways to handle long lists of scopes."""

from __future__ import annotations

from dataclasses import replace

from gateproof.reference.gateway.policy import authorization
from gateproof.reference.gateway.policy.authorization import AuthorizationFacts
from gateproof.reference.gateway.records import AuthorizationRequest
from gateproof.reference.variants.variant import variant

_MOST = 255


def _as_many_as_fit(facts: AuthorizationFacts) -> AuthorizationRequest:
    request = authorization.authorization_request(facts)
    scopes = request.scopes
    while len(" ".join(scopes)) > _MOST:
        scopes = scopes[:-1]
    return replace(request, scopes=scopes)


VARIANTS = (
    variant(
        "as-many-scopes-as-fit: the gateway grants the first scopes of a request that fit in 255 characters",
        authorization_request=_as_many_as_fit,
    ),
)
