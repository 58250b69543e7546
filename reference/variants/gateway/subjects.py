"""Other legal values of `sub`, and another order of redirect URIs."""

from __future__ import annotations

from gateproof.reference.defects.gateway.cached_claims import sub_per
from gateproof.reference.defects.gateway.registration import changing_answer
from gateproof.reference.gateway.policy.registration import domain_of
from gateproof.reference.gateway.policy.token_claims import TokenFacts, id_token_claims
from gateproof.reference.ids import fingerprint
from gateproof.reference.outcomes import JsonObject
from gateproof.reference.variants.variant import variant

_IN_EVERY_ID_TOKEN = ("iss", "aud", "exp", "iat")


def _bare_id_token(facts: TokenFacts) -> JsonObject:
    honest = id_token_claims(facts)
    kept = {name: honest[name] for name in _IN_EVERY_ID_TOKEN if name in honest}
    return kept | {"sub": fingerprint(f"{facts.grant.sub} at {facts.agent.id}")}


VARIANTS = (
    variant(
        "sub-per-redirect-host: `sub` differs between agents with redirect URIs on different hosts",
        **sub_per(lambda facts: domain_of(facts.agent.redirect_uris)),
    ),
    variant(
        "sub-per-resource: `sub` differs between the Resources of a Project",
        **sub_per(lambda facts: facts.resource.id),
    ),
    variant("sub-per-agent: `sub` differs between agents", **sub_per(lambda facts: facts.agent.id)),
    variant(
        "id-token-with-little-in-it: the ID token has another `sub` and nothing else about the user",
        id_token_claims=_bare_id_token,
    ),
    variant(
        "redirect-uris-sorted: the registration returns the redirect URIs in another order",
        registration_answer=changing_answer(lambda new: {"redirect_uris": sorted(new.agent.redirect_uris)}),
    ),
)
