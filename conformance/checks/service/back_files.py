"""The files that a service writes: a Proxy token must be in its memory only."""

from __future__ import annotations

import time

from gateproof.conformance.checks.service._failing_parties import require_recovered
from gateproof.conformance.checks.service._proxy_calls import USER, require_served_uncached
from gateproof.conformance.kit.service.files import ServiceFiles, TooManyFiles, pieces_of
from gateproof.conformance.kit.service.processes import processes
from gateproof.conformance.kit.service.received import (
    MERCHANT_TOKEN,
    PROXY_SECRET,
    PROXY_TOKEN,
    ServiceReceived,
)
from gateproof.conformance.kit.service.service import Service
from gateproof.conformance.kit.service.world import ServiceWorld
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import LeftOut, NotApplicable, expect, observe
from gateproof.conformance.suite.pauses import Cause, wait_for

# How much later than the answer a file may be written; some services write periodically.
WRITES_WITHIN_S = 3.0
PAUSE_S = 0.5
LOOKS_FOR_S = 30.0


@check("BACK-13")
def proxy_token_is_in_no_file(service: Service, world: ServiceWorld, received: ServiceReceived) -> None:
    """No file below the folder of the service, or below TMPDIR, contains a Proxy token of the run.

    The service is called, its Proxy token is revoked, and it is called again, so that a service which writes
    at a renewal has written. Log files belong to another rule. Other secrets in files are recorded.
    """
    files = world.files
    if files is None:
        raise NotApplicable("the service was not launched by gateproof, so its files are not known")
    for _ in range(processes(world)):
        require_served_uncached(service, world)
    world.gateway.revoke_proxy_tokens()
    for _ in range(2):
        service.serve_once(world.unseen_token(USER))
    world.gateway.revive_proxy_tokens()
    require_recovered(service, world)
    until = time.monotonic() + WRITES_WITHIN_S
    while not (found := _holding(files, received)).get(PROXY_TOKEN) and time.monotonic() < until:
        wait_for(Cause.REQUEST, PAUSE_S)

    names = found.get(PROXY_TOKEN, [])
    observe(
        logs_with_a_proxy_token=len([name for name in names if name.endswith(".log")]),
        files_with_the_proxy_clients_secret=len(found.get(PROXY_SECRET, ())),
        files_with_a_merchant_token=len(found.get(MERCHANT_TOKEN, ())),
    )
    wrong = sorted(name for name in names if not name.endswith(".log"))
    expect.that(
        not wrong,
        "files that the service wrote since it was launched",
        expected="no Proxy token in them: it belongs into memory",
        got=", ".join(wrong[:4]),
    )


def _holding(files: ServiceFiles, received: ServiceReceived) -> dict[str, list[str]]:
    """The names of the files that contain a secret, by the kind of the secret."""
    found: dict[str, list[str]] = {}
    search = received.search_for(PROXY_TOKEN, PROXY_SECRET, MERCHANT_TOKEN)
    try:
        for file in files.written(LOOKS_FOR_S):
            for kind in {each.kind for piece in pieces_of(file) for each in search(piece)}:
                found.setdefault(kind, []).append(file.name)
    except TooManyFiles:
        if not found.get(PROXY_TOKEN):
            raise LeftOut(
                f"the folder of the service holds more files than are looked through in {LOOKS_FOR_S:.0f} s"
            ) from None
    return found
