"""The media type of the discovery document."""

from __future__ import annotations

from gateproof.conformance.kit.gateway.gateway import Gateway
from gateproof.conformance.kit.gateway.world import World
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import expect, require


@check("DISC-08")
def document_comes_as_json(gateway: Gateway, world: World) -> None:
    """The media type of the discovery document is application/json, or another one that ends in +json."""
    answer = require(gateway.discovery(world.projects.home().resource)).status(200)
    require.text(require(answer).json_object().get("issuer"), "issuer in the discovery document")
    said = answer.answer.header("Content-Type") if answer.answer is not None else None
    media_type = (said or "").partition(";")[0].strip().lower()

    expect.that(
        media_type == "application/json"
        or (media_type.startswith("application/") and media_type.endswith("+json")),
        "Content-Type of the discovery document",
        expected="application/json, or application/...+json",
        got=said or "none",
        exchange=answer,
    )
