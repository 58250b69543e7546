"""The core key set, asked for again with the ETag of the last time."""

from __future__ import annotations

import time
from dataclasses import replace

from gateproof.conformance.checks.gateway._request_forms import with_request_form
from gateproof.conformance.checks.gateway._signatures import require_verified
from gateproof.conformance.kit.gateway.world import World
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import LeftOut, expect, require
from gateproof.conformance.suite.pauses import Cause, wait_for
from gateproof.conformance.suite.time_limits import KEY_SHOWN_S
from gateproof.conformance.wire.exchange import Exchange
from gateproof.conformance.wire.jose import keys_of, verifying

# The answers of a process that does not have the new key yet.
_LATE = (200, 304)


@check("KEYS-01", needs=["control:rotate_keys"])
def key_set_asked_for_again_has_the_new_key(world: World) -> None:
    """After a rotation, a request with the ETag of the old key set brings the set with the new key.

    Clients that cache the set ask so. They would never see the new key if the answer were 304 for ever.
    """
    resource = world.projects.home().resource
    jwks_uri = world.gateway.reachable(require.text(world.discovery(resource).get("jwks_uri"), "jwks_uri"))
    before = require(world.gateway.fetch(jwks_uri, "core key set")).status(200)
    etag = before.header("ETag")
    if etag is None:
        raise LeftOut("the core key set has no ETag")
    world.keys.rotate()
    grant = world.grant()
    require_verified(world, grant)
    token = grant.access_token.reveal()
    if verifying(token, keys_of(before.json())):
        raise LeftOut("the new key was in the key set before")
    again = with_request_form(
        world, lambda request: replace(request, headers=(*request.headers, ("If-None-Match", etag)))
    )
    deadline = time.monotonic() + KEY_SHOWN_S
    answer = again.gateway.fetch(jwks_uri, "core key set, if it has changed")
    # Another process may still serve the old set, under an ETag of its own.
    while answer.status in _LATE and not _has_the_key(answer, token) and time.monotonic() < deadline:
        wait_for(Cause.KEYS, 0.25)
        answer = again.gateway.fetch(jwks_uri, "core key set, if it has changed")

    expect.that(
        _has_the_key(answer, token),
        answer.step,
        expected="the set with the key that verifies a new token",
        got=answer.outcome(),
        exchange=answer,
    )


def _has_the_key(answer: Exchange, token: str) -> bool:
    return answer.status == 200 and bool(verifying(token, keys_of(answer.json())))
