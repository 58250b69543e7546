"""The service's log, searched for the credentials of its backend."""

from __future__ import annotations

from collections.abc import Callable

from gateproof.conformance.checks.service._failing_parties import (
    USER,
    failing,
    failing_token_endpoint,
    require_recovered,
    require_works,
)
from gateproof.conformance.checks.service._log import require_log, settled_log
from gateproof.conformance.checks.service._proxy_calls import require_served_uncached
from gateproof.conformance.kit.gateway.received import LOGGED, RunTotals
from gateproof.conformance.kit.service.received import (
    BACKEND_SECRETS,
    MERCHANT_TOKEN,
    PROXY_SECRET,
    PROXY_TOKEN,
    ServiceReceived,
    kind_in_the_log,
)
from gateproof.conformance.kit.service.service import Service
from gateproof.conformance.kit.service.world import ServiceWorld
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import LeftOut, expect, require
from gateproof.fakes.gateway.script import Answer, Endpoint

REFUSED = tuple(Answer(status=status, members={"error": "refused"}) for status in (400, 401, 404, 410))
FAILED = Answer(status=500)


@check("SECRET-08")
def proxy_token_is_not_in_the_logs(service: Service, world: ServiceWorld, received: ServiceReceived) -> None:
    """After calls that work, and calls whose redemption is refused or fails, no Proxy token is logged."""

    def trouble() -> None:
        for answer in (*REFUSED, FAILED):
            failing(service, world, Endpoint.REDEMPTION, answer, world.unseen_token(USER))

    _unlogged(service, world, received, PROXY_TOKEN, trouble)


@check("SECRET-08")
def proxy_clients_secret_is_not_in_the_logs(
    service: Service, world: ServiceWorld, received: ServiceReceived
) -> None:
    """After calls that work, and after Proxy token requests that fail, the secret is not logged.

    If the service requests no other Proxy token now, the calls that work, and its log since the start, are
    judged.
    """

    def trouble() -> None:
        for answer in (Answer(status=401, members={"error": "invalid_client"}), FAILED):
            try:
                failing_token_endpoint(service, world, answer)
            except LeftOut:
                return
            require_recovered(service, world)

    _unlogged(service, world, received, PROXY_SECRET, trouble)


@check("SECRET-08")
def merchant_token_is_not_in_the_logs(
    service: Service, world: ServiceWorld, received: ServiceReceived
) -> None:
    """After calls that work, and calls that the merchant refuses or fails, no merchant token is logged."""

    def trouble() -> None:
        for answer in (Answer(status=401), Answer(status=404), FAILED, Answer(body=b"<!doctype html>")):
            failing(service, world, Endpoint.MERCHANT_API, answer, world.unseen_token(USER))

    _unlogged(service, world, received, MERCHANT_TOKEN, trouble)


@check("SECRET-08", whole_run=True)
def credentials_of_the_run_are_not_in_the_logs(survey: RunTotals) -> None:
    """The service's log contains no Proxy token, merchant token or Proxy client's secret of the whole run."""
    require.that(survey.redeemed > 0, "the run", expected="a redemption that succeeded", got="none")
    kinds = {kind_in_the_log(kind): kind for kind in BACKEND_SECRETS}
    found = sorted({kinds[leak.kind] for leak in survey.leaks if leak.kind in kinds})
    if not found and not survey.known.get(LOGGED):
        raise LeftOut("the log stayed empty, is not where the target file says, or was too long to be kept")

    expect.that(
        not found,
        f"the log of the run, searched for {sum(survey.known[kind] for kind in BACKEND_SECRETS)} secrets",
        expected="none of them",
        got=", ".join(kind.replace("_", " ") for kind in found),
    )


def _unlogged(
    service: Service, world: ServiceWorld, received: ServiceReceived, kind: str, trouble: Callable[[], None]
) -> None:
    """Expects no credential of this kind in the log after calls that work and after this trouble."""
    require_works(service, world)
    require_served_uncached(service, world)
    trouble()
    require_recovered(service, world)
    log = settled_log(world)
    found = received.search_for(kind)(log)

    expect.that(
        not found,
        f"the log, {len(log)} characters",
        expected=f"no {kind.replace('_', ' ')}",
        got=f"one, {found[0].how}" if found else "none",
    )
    require_log(world, log)
