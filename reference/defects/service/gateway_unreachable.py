"""Services that cannot say who they are without the gateway."""

from __future__ import annotations

from dataclasses import replace

from gateproof.reference.defects.service.row import defect
from gateproof.reference.deviations.altered_answers import Answered, Asked, meddling
from gateproof.reference.service.backend import Backend
from gateproof.reference.service.policy import validation
from gateproof.reference.service.wire import Asked as AskedOf

# A token under a key that nobody has: whoever gets it looks for that key.
NOBODYS = "Bearer none"


def presented_or_none(asked: AskedOf) -> str | None:
    """`verify(token ?? "none")`: what is no token is found out where tokens are."""
    return validation.presented_token(asked) or "none"


async def put_together_with_the_gateway(asked: Asked, answered: Answered, backend: Backend) -> Answered:
    """The metadata are made for each request, of what the gateway says of itself."""
    if not asked.path.startswith("/.well-known/"):
        return answered
    call = AskedOf(method="GET", path=asked.path, headers=(("authorization", NOBODYS),))
    found = await backend.call_of(call)
    out_of_reach = getattr(found, "kind", "") == "unavailable"
    return replace(answered, status=502, body=b"{}") if out_of_reach else answered


DEFECTS = (
    defect(
        "challenge-from-the-gateways-keys (CHAL-01): Whoever has no token is told so once the gateway's "
        "keys have been fetched.",
        presented_token=presented_or_none,
        keys_again_after_s=0,
    ),
    defect(
        "metadata-from-the-gateway (META-04): The metadata are put together of what the gateway says, each "
        "time that they are asked for.",
        around=meddling(put_together_with_the_gateway),
        keys_again_after_s=0,
    ),
)
