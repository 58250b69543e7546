"""Other legal subjects and orders: of what a user is called where, and in which order URIs come back."""

from __future__ import annotations

from gateproof.reference.defects.gateway.cached_claims import pairwise
from gateproof.reference.defects.gateway.registration import answering
from gateproof.reference.gateway.policy.registration import domain_of
from gateproof.reference.gateway.policy.token_claims import TokenFacts, id_token_claims
from gateproof.reference.ids import fingerprint
from gateproof.reference.outcomes import JsonObject
from gateproof.reference.variants.variant import variant

_IN_EVERY_ID_TOKEN = ("iss", "aud", "exp", "iat", "nonce")


def _bare_id_token(facts: TokenFacts) -> JsonObject:
    honest = id_token_claims(facts)
    kept = {name: honest[name] for name in _IN_EVERY_ID_TOKEN if name in honest}
    return kept | {"sub": fingerprint(f"{facts.grant.sub} at {facts.agent.id}")}


VARIANTS = (
    variant(
        "sub-per-redirect-host: `sub` is another one for agents on another host.",
        **pairwise(lambda facts: domain_of(facts.agent.redirect_uris)),
    ),
    variant(
        "sub-per-resource: `sub` is another one at every Resource of a Project.",
        **pairwise(lambda facts: facts.resource.id),
    ),
    variant("sub-per-agent: `sub` is another one for every agent.", **pairwise(lambda facts: facts.agent.id)),
    variant(
        "id-token-with-little-in-it: the ID token has a `sub` of its own and nothing else about the user",
        id_token_claims=_bare_id_token,
    ),
    variant(
        "redirect-uris-sorted: Redirect URIs come back in another order.",
        registration_answer=answering(lambda new: {"redirect_uris": sorted(new.agent.redirect_uris)}),
    ),
)
