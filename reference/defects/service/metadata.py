"""Services with a wrong metadata document, or without a correct challenge."""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import httpx

from gateproof.reference.defects.service.row import defect
from gateproof.reference.deviations.altered_answers import Answered, Asked, altering_answers
from gateproof.reference.service.backend import Backend
from gateproof.reference.service.policy import metadata_and_challenge
from gateproof.reference.service.policy.answers import answer_of
from gateproof.reference.service.policy.metadata_and_challenge import ChallengeFacts
from gateproof.reference.service.settings import Settings
from gateproof.reference.service.wire import Outcome, Reply

# The rules that fail without a correct challenge.
EVERY_CHALLENGE = "CHAL-01 CHAL-02 CHAL-03 CHAL-04 CHAL-05 CHAL-06 CHAL-07 CHAL-08"


def with_members(change: Callable[[Settings], dict[str, Any]]) -> Callable[[Settings], dict[str, Any]]:
    return lambda settings: metadata_and_challenge.metadata_document(settings) | change(settings)


def of_the_metadata(change: Callable[[Asked, Answered, Backend], Answered]) -> Any:
    """Only answers at the path of the metadata document are changed."""

    def changed(asked: Asked, answered: Answered, backend: Backend) -> Answered:
        there = backend.policies.metadata_path(backend.settings)
        return change(asked, answered, backend) if asked.path == there else answered

    return altering_answers(changed)


def behind_a_token(asked: Asked, answered: Answered, backend: Backend) -> Answered:
    """One token check for all paths, including the document that says where to get a token."""
    if asked.headers.get("authorization"):
        return answered
    facts = ChallengeFacts(
        metadata_url=f"{backend.settings.service_url}{asked.path}",
        authorization_server=backend.settings.authorization_server,
        given=False,
    )
    return Answered(
        status=401, headers=(("www-authenticate", metadata_and_challenge.challenges(facts)[0]),), body=b"{}"
    )


def gone_every(times: int) -> Any:
    """One server behind the load balancer does not have the document."""
    asked_for = 0

    def change(_asked: Asked, answered: Answered, _backend: Backend) -> Answered:
        nonlocal asked_for
        asked_for += 1
        return replace(answered, status=404, body=b"{}") if asked_for % times == 0 else answered

    return of_the_metadata(change)


def made_by_the_first_call() -> Any:
    """The first call of the operation creates the document."""
    there = False

    def change(asked: Asked, answered: Answered, backend: Backend) -> Answered:
        nonlocal there
        there = there or asked.path in ("/orders", "/mcp")
        at_it = asked.path == backend.policies.metadata_path(backend.settings)
        return replace(answered, status=404, body=b"{}") if at_it and not there else answered

    return altering_answers(change)


def as_a_page(answered: Answered) -> Answered:
    return replace(answered, body=b"<!doctype html><pre>" + answered.body + b"</pre>")


def changed_by_use() -> Any:
    """After the first successful call, the document names another authorization server."""
    used = False

    def change(asked: Asked, answered: Answered, backend: Backend) -> Answered:
        nonlocal used
        used = used or (asked.method == "POST" and answered.status == 200)
        there = asked.path == backend.policies.metadata_path(backend.settings)
        if not (used and there):
            return answered
        document = json.loads(answered.body) | {"authorization_servers": [backend.settings.base_url]}
        return replace(answered, body=json.dumps(document).encode())

    return altering_answers(change)


def with_status(kinds: set[str], status: int, *headers: tuple[str, str]) -> Callable[[Outcome], Reply]:
    """These outcomes get another status."""

    def answer(outcome: Outcome) -> Reply:
        reply = answer_of(outcome)
        if outcome.kind not in kinds:
            return reply
        return replace(reply, status=status, headers=(*reply.headers, *headers))

    return answer


def for_people(change: Callable[[Answered], Answered], *paths: str) -> Any:
    """A request whose Accept does not contain json is answered like one of a browser."""

    def changed(asked: Asked, answered: Answered, backend: Backend) -> Answered:
        here = asked.path in (paths or (backend.policies.metadata_path(backend.settings),))
        return change(answered) if here and "json" not in asked.headers.get("accept", "") else answered

    return altering_answers(changed)


def to_log_in(answered: Answered) -> Answered:
    if answered.status != 401:
        return answered
    return Answered(status=302, headers=(("location", "/login"),), body=b"")


def sample_orders(outcome: Outcome) -> Reply:
    """A request without a token gets sample orders."""
    if outcome.kind != "no token":
        return answer_of(outcome)
    return answer_of(Outcome(kind="served", orders=[{"id": "order-1", "item": "sample"}]))


DEFECTS = (
    defect(
        "metadata-behind-a-token (META-01 META-02 META-03 META-04 META-05 CHAL-02 CHAL-06): The service "
        "requires a token for the metadata document.",
        around=of_the_metadata(behind_a_token),
    ),
    defect(
        "metadata-in-a-list (META-01 META-02 META-03 META-04 META-05 CHAL-02 CHAL-06): The metadata "
        "document is an array with one object.",
        metadata_document=lambda settings: [metadata_and_challenge.metadata_document(settings)],
    ),
    defect(
        "metadata-on-a-page (META-01 META-02 META-03 META-04 META-05 CHAL-02 CHAL-06): The metadata document "
        "is inside an HTML page.",
        around=of_the_metadata(lambda _asked, answered, _backend: as_a_page(answered)),
    ),
    defect(
        "metadata-on-a-page-for-people (META-01): The metadata document is inside an HTML page unless Accept "
        "contains json.",
        around=for_people(as_a_page),
    ),
    defect(
        "resource-is-the-indicator (META-02 META-05 CHAL-06): In the metadata document, resource is the "
        "Resource indicator, not the service's own URL.",
        metadata_document=with_members(lambda settings: {"resource": settings.indicator}),
    ),
    defect(
        "resource-is-the-indicator-tidied (META-02 META-05 CHAL-06): In the metadata document, resource is "
        "the Resource indicator, normalized as a URL.",
        metadata_document=with_members(lambda settings: {"resource": str(httpx.URL(settings.indicator))}),
    ),
    defect(
        "resource-is-the-merchants-api (META-02 META-05): In the metadata document, resource is the address "
        "of the merchant's API.",
        metadata_document=with_members(lambda settings: {"resource": settings.merchant_api_url}),
    ),
    defect(
        "resource-is-the-authorization-server (META-02 META-05): In the metadata document, resource is the "
        "Resource's authorization server.",
        metadata_document=with_members(lambda settings: {"resource": settings.authorization_server}),
    ),
    defect(
        "resource-left-empty (META-02 META-05): In the metadata document, resource is empty.",
        metadata_document=with_members(lambda _: {"resource": ""}),
    ),
    defect(
        "resource-in-a-list (META-02 META-05): In the metadata document, resource is an array.",
        metadata_document=with_members(lambda settings: {"resource": [settings.service_url]}),
    ),
    defect(
        "authorization-server-is-the-gateway (META-03 CHAL-02): The metadata document names the gateway's "
        "address, not the Resource's authorization server.",
        metadata_document=with_members(lambda settings: {"authorization_servers": [settings.base_url]}),
    ),
    defect(
        "authorization-servers-is-a-string (META-03 CHAL-02): In the metadata document, "
        "authorization_servers is a string, not an array of strings.",
        metadata_document=with_members(
            lambda settings: {"authorization_servers": settings.authorization_server}
        ),
    ),
    defect(
        "authorization-servers-are-objects (META-03 CHAL-02): In the metadata document, "
        "authorization_servers contains objects, not strings.",
        metadata_document=with_members(
            lambda settings: {"authorization_servers": [{"issuer": settings.authorization_server}]}
        ),
    ),
    defect(
        "authorization-server-misnamed (META-03 CHAL-02): The metadata document has authorization_server in "
        "place of authorization_servers.",
        metadata_document=lambda settings: {
            "resource": settings.service_url,
            "authorization_server": settings.authorization_server,
        },
    ),
    defect(
        "resource-anew-every-time (META-04 META-05 CHAL-02 CHAL-06): In the metadata document, resource is "
        "different on every fetch.",
        metadata_document=with_members(
            lambda settings: {"resource": f"{settings.service_url}/?v={secrets.token_hex(4)}"}
        ),
    ),
    defect(
        "metadata-gone-every-third-time (META-04 META-01 META-02 META-03 META-05 CHAL-02 CHAL-06 ROBUST-02): "
        "Every third fetch of the metadata document answers 404.",
        around=gone_every(3),
    ),
    defect(
        "metadata-made-by-the-first-call (META-04): The metadata document answers 404 until the operation is "
        "called for the first time.",
        around=made_by_the_first_call(),
    ),
    defect(
        "metadata-change-by-use (META-04 META-03 CHAL-02): After the first successful POST, the metadata "
        "document names another authorization server.",
        around=changed_by_use(),
    ),
    defect(
        "metadata-labelled-as-text (META-05): The metadata document has the content type text/plain.",
        metadata_type="text/plain",
    ),
    defect(
        "resource-names-a-path-that-the-metadata-do-not (META-05): In the metadata document, resource has a "
        "path, but the document is at the well-known path of the origin.",
        metadata_document=with_members(lambda settings: {"resource": f"{settings.service_url}/orders"}),
    ),
    defect(
        "resource-on-another-host (META-05): In the metadata document, resource is a URL with another host "
        "than the service's.",
        metadata_document=with_members(lambda _: {"resource": "https://orders.operator.example"}),
    ),
    defect(
        "forbidden-without-a-token (CHAL-01 CHAL-02 CHAL-03): The service answers 403 to a call without a "
        "token.",
        answer_of=with_status({"no token"}, 403),
    ),
    defect(
        "login-page-without-a-token (CHAL-01 CHAL-02 CHAL-03): The service redirects a call without a token "
        "to a login page.",
        answer_of=with_status({"no token"}, 302, ("location", "/login")),
    ),
    defect(
        "login-page-for-people (CHAL-01): The service redirects a call without a valid token to a login page "
        "unless Accept contains json.",
        around=for_people(to_log_in, "/orders"),
    ),
    defect(
        "samples-without-a-token (CHAL-01 CHAL-02 CHAL-03): The service answers a call without a token with "
        "200 and sample orders.",
        answer_of=sample_orders,
    ),
    defect(
        f"challenge-without-a-pointer ({EVERY_CHALLENGE}): The challenge has no resource_metadata.",
        challenges=lambda _: ('Bearer realm="orders", error="invalid_token"',),
    ),
    defect(
        f"challenge-for-basic-alone ({EVERY_CHALLENGE}): The challenge has the scheme Basic, not Bearer.",
        challenges=lambda facts: (f'Basic realm="orders", resource_metadata="{facts.metadata_url}"',),
    ),
    defect(
        f"challenge-with-broken-quotes ({EVERY_CHALLENGE}): In the challenge, the metadata URL has an "
        f"opening quote, but no closing one.",
        challenges=lambda facts: (f'Bearer resource_metadata="{facts.metadata_url}',),
    ),
    defect(
        f"no-challenge-in-the-header ({EVERY_CHALLENGE}): The 401 answer has no WWW-Authenticate header.",
        challenged=lambda _reply, _outcome: False,
    ),
)
