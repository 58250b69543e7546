"""Headers by which some services accept callers without a token, or that change answers to other callers."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import urlsplit

from gateproof.conformance.checks.service._altered_tokens import USER, good_token
from gateproof.conformance.checks.service._other_hosts import FORWARDED, OTHER_HOST
from gateproof.conformance.kit.inputs.odd_requests import with_header
from gateproof.conformance.kit.service.service import POINTER, Service, expect_challenge
from gateproof.conformance.kit.service.world import ServiceWorld
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import expect
from gateproof.conformance.wire.exchange import Headers

# The caller's address, as a proxy forwards it.
_LOCAL: Headers = (
    *(("X-Forwarded-For", value) for value in ("127.0.0.1", "::1", "localhost", "10.0.0.1")),
    *(("Forwarded", value) for value in ("for=127.0.0.1", 'for="[::1]"')),
    *((name, "127.0.0.1") for name in ("X-Real-IP", "X-Client-IP", "X-Originating-IP", "X-Remote-IP")),
    *((name, "127.0.0.1") for name in ("X-Remote-Addr", "True-Client-IP", "X-Cluster-Client-IP")),
)
# The requested host, as a proxy forwards it: a service may redirect its caller to its own host.
_LOCAL_HOSTS: Headers = (("X-Forwarded-Host", "localhost"), ("X-Host", "localhost"))
# The caller, as an authenticating proxy or a load balancer forwards it; the value is a user's subject.
_AUTHENTICATED = (
    *("Remote-User", "X-Remote-User", "X-Forwarded-User", "X-Auth-Request-User", "X-WEBAUTH-USER"),
    *("X-User", "X-User-Id", "X-Authenticated-User", "X-Authenticated-Userid", "X-Consumer-Username"),
    *("X-MS-CLIENT-PRINCIPAL-ID", "X-Goog-Authenticated-User-Id", "X-Subject", "X-Sub"),
)
_INTERNAL: Headers = (
    # Next.js skipped its middleware for this header (CVE-2025-29927).
    ("X-Middleware-Subrequest", ":".join(["middleware"] * 5)),
    ("X-Middleware-Subrequest", ":".join(["src/middleware"] * 5)),
    *((name, "true") for name in ("X-Internal", "X-Internal-Request", "X-Authenticated", "X-Skip-Auth")),
    *((name, "1") for name in ("X-Debug", "X-Test", "X-Health-Check", "X-Admin")),
    *(("User-Agent", name) for name in ("kube-probe/1.31", "ELB-HealthChecker/2.0", "GoogleHC/1.0")),
    ("X-Requested-With", "XMLHttpRequest"),
)
_CONDITIONS: Headers = (("If-None-Match", "*"), ("Range", "bytes=0-"))
_VERSIONS: Headers = tuple(
    (name, value)
    for name in ("X-Api-Version", "Api-Version", "Accept-Version")
    for value in ("0", "1", "2", "beta")
)
TRUSTED: Mapping[str, Headers] = {
    "local-caller": _LOCAL,
    "local-host": _LOCAL_HOSTS,
    "authenticated-user": tuple((name, "") for name in _AUTHENTICATED),
    "internal-request": _INTERNAL,
    "condition": _CONDITIONS,
    "version-of-an-api": _VERSIONS,
}


@check("CHAL-01", cases=TRUSTED)
def no_header_takes_the_place_of_a_token(service: Service, world: ServiceWorld, case: Headers) -> None:
    """Without a token, no header that a proxy might set replaces the token.

    A server may refuse an unknown header or host with another 4xx status.
    """
    good_token(service, world)
    subject = str(world.gateway.claims(USER)["sub"])

    first = 300 if case is _LOCAL_HOSTS else 400
    for name, value in case:
        answer = service.operate(headers=((name, value or subject),))
        if answer.status == 401:
            expect_challenge(answer)
        expect.that(
            answer.status is not None and first <= answer.status < 500,
            f"{answer.step} without a token, with the header {name}: {value or 'a user'}",
            expected="the challenge",
            got=answer.outcome(),
            exchange=answer,
        )


@check("CHAL-02", cases=FORWARDED)
def pointer_is_not_of_a_host_that_another_caller_named(
    service: Service, world: ServiceWorld, case: Headers
) -> None:
    """After a request that names another host, the next challenge does not name that host.

    The answer to that request itself is not judged: a service may trust a proxy.
    """
    good_token(service, world)
    before = expect_challenge(service.operate()).parameters[POINTER]
    service.operate(headers=case)
    metadata = service.metadata().request
    for name, value in case:
        metadata = with_header(metadata, name, value)
    service.wire.send("metadata", metadata)
    answer = service.operate()
    after = expect_challenge(answer).parameters[POINTER]

    expect.that(
        _host(after) != OTHER_HOST,
        f"{POINTER} after another caller named the host {OTHER_HOST}",
        expected=before,
        got=after,
        exchange=answer,
    )


def _host(url: str) -> str:
    try:
        return urlsplit(url).hostname or ""
    except ValueError:
        return ""
