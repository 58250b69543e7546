"""Services that need the gateway for their challenge or their metadata."""

from __future__ import annotations

from dataclasses import replace

from gateproof.reference.defects.service.row import defect
from gateproof.reference.deviations.altered_answers import Answered, Asked, altering_answers
from gateproof.reference.service.backend import Backend
from gateproof.reference.service.policy import validation
from gateproof.reference.service.wire import Asked as AskedOf

# A token that no key verifies, so that the service fetches the keys again.
UNVERIFIABLE = "Bearer none"


def presented_or_none(asked: AskedOf) -> str | None:
    """`verify(token ?? "none")`: a missing token is verified like a bad one."""
    return validation.presented_token(asked) or "none"


async def made_from_the_gateway(asked: Asked, answered: Answered, backend: Backend) -> Answered:
    """The metadata document is made from the gateway's documents on each request."""
    if not asked.path.startswith("/.well-known/"):
        return answered
    call = AskedOf(method="GET", path=asked.path, headers=(("authorization", UNVERIFIABLE),))
    found = await backend.call_of(call)
    out_of_reach = getattr(found, "kind", "") == "unavailable"
    return replace(answered, status=502, body=b"{}") if out_of_reach else answered


DEFECTS = (
    defect(
        "challenge-from-the-gateways-keys (CHAL-01): Without a token, the service fetches the gateway's keys "
        "before it sends the challenge.",
        presented_token=presented_or_none,
        keys_again_after_s=0,
    ),
    defect(
        "metadata-from-the-gateway (META-04): The service makes the metadata document from the gateway's "
        "documents on each request, and answers 502 if it cannot.",
        around=altering_answers(made_from_the_gateway),
        keys_again_after_s=0,
    ),
)
