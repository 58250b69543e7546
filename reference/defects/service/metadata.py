"""Services that introduce themselves wrongly: their metadata, and whether there is a challenge."""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import httpx

from gateproof.reference.defects.service.row import defect
from gateproof.reference.deviations.altered_answers import Answered, Asked, meddling
from gateproof.reference.service.backend import Backend
from gateproof.reference.service.policy import introduction
from gateproof.reference.service.policy.answers import answer_of
from gateproof.reference.service.policy.introduction import ChallengeFacts
from gateproof.reference.service.settings import Settings
from gateproof.reference.service.wire import Outcome, Reply

# Whatever is to get the challenge, gets none.
EVERY_CHALLENGE = "CHAL-01 CHAL-02 CHAL-03 CHAL-04 CHAL-05 CHAL-06 CHAL-07 CHAL-08"


def with_members(change: Callable[[Settings], dict[str, Any]]) -> Callable[[Settings], dict[str, Any]]:
    return lambda settings: introduction.metadata_document(settings) | change(settings)


def of_the_metadata(change: Callable[[Asked, Answered, Backend], Answered]) -> Any:
    """Only answers at the address of the metadata are changed."""

    def changed(asked: Asked, answered: Answered, backend: Backend) -> Answered:
        there = backend.policies.metadata_path(backend.settings)
        return change(asked, answered, backend) if asked.path == there else answered

    return meddling(changed)


def behind_a_token(asked: Asked, answered: Answered, backend: Backend) -> Answered:
    """One filter for all paths: whoever has no token yet does not learn where to get one."""
    if asked.headers.get("authorization"):
        return answered
    facts = ChallengeFacts(
        metadata_url=f"{backend.settings.service_url}{asked.path}",
        authorization_server=backend.settings.authorization_server,
        given=False,
    )
    return Answered(
        status=401, headers=(("www-authenticate", introduction.challenges(facts)[0]),), body=b"{}"
    )


def gone_every(times: int) -> Any:
    """Behind the load balancer stands one machine that has not got the file."""
    asked_for = 0

    def change(_asked: Asked, answered: Answered, _backend: Backend) -> Answered:
        nonlocal asked_for
        asked_for += 1
        return replace(answered, status=404, body=b"{}") if asked_for % times == 0 else answered

    return of_the_metadata(change)


def made_by_the_first_call() -> Any:
    """The document is put together by whoever answers the first operation."""
    there = False

    def change(asked: Asked, answered: Answered, backend: Backend) -> Answered:
        nonlocal there
        there = there or asked.path in ("/orders", "/mcp")
        at_it = asked.path == backend.policies.metadata_path(backend.settings)
        return replace(answered, status=404, body=b"{}") if at_it and not there else answered

    return meddling(change)


def as_a_page(answered: Answered) -> Answered:
    return replace(answered, body=b"<!doctype html><pre>" + answered.body + b"</pre>")


def changed_by_use() -> Any:
    """What the first operation was called by is taken for the service's name."""
    used = False

    def change(asked: Asked, answered: Answered, backend: Backend) -> Answered:
        nonlocal used
        used = used or (asked.method == "POST" and answered.status == 200)
        there = asked.path == backend.policies.metadata_path(backend.settings)
        if not (used and there):
            return answered
        document = json.loads(answered.body) | {"authorization_servers": [backend.settings.base_url]}
        return replace(answered, body=json.dumps(document).encode())

    return meddling(change)


def telling(kinds: set[str], status: int, *headers: tuple[str, str]) -> Callable[[Outcome], Reply]:
    """These outcomes end in another status."""

    def answer(outcome: Outcome) -> Reply:
        reply = answer_of(outcome)
        if outcome.kind not in kinds:
            return reply
        return replace(reply, status=status, headers=(*reply.headers, *headers))

    return answer


def for_people(change: Callable[[Answered], Answered], *paths: str) -> Any:
    """Whoever does not ask for JSON by its name is taken for a browser, where a service answers agents."""

    def changed(asked: Asked, answered: Answered, backend: Backend) -> Answered:
        here = asked.path in (paths or (backend.policies.metadata_path(backend.settings),))
        return change(answered) if here and "json" not in asked.headers.get("accept", "") else answered

    return meddling(changed)


def to_log_in(answered: Answered) -> Answered:
    if answered.status != 401:
        return answered
    return Answered(status=302, headers=(("location", "/login"),), body=b"")


def sample_orders(outcome: Outcome) -> Reply:
    """Whoever has no token is shown how nice it would look."""
    if outcome.kind != "no token":
        return answer_of(outcome)
    return answer_of(Outcome(kind="served", orders=[{"id": "order-1", "item": "sample"}]))


DEFECTS = (
    defect(
        "metadata-behind-a-token (META-01 META-02 META-03 META-04 META-05 CHAL-02 CHAL-06): The metadata "
        "document is only for those who have a token.",
        around=of_the_metadata(behind_a_token),
    ),
    defect(
        "metadata-in-a-list (META-01 META-02 META-03 META-04 META-05 CHAL-02 CHAL-06): The metadata "
        "document is an array with one object.",
        metadata_document=lambda settings: [introduction.metadata_document(settings)],
    ),
    defect(
        "metadata-on-a-page (META-01 META-02 META-03 META-04 META-05 CHAL-02 CHAL-06): The metadata "
        "document is shown on an HTML page.",
        around=of_the_metadata(lambda _asked, answered, _backend: as_a_page(answered)),
    ),
    defect(
        "metadata-on-a-page-for-people (META-01): Whoever does not ask for JSON by its name is shown the "
        "metadata on an HTML page.",
        around=for_people(as_a_page),
    ),
    defect(
        "resource-is-the-indicator (META-02 META-05 CHAL-06): The metadata name the merchant's Resource "
        "indicator as the service's own identifier.",
        metadata_document=with_members(lambda settings: {"resource": settings.indicator}),
    ),
    defect(
        "resource-is-the-indicator-tidied (META-02 META-05 CHAL-06): The metadata name the merchant's "
        "Resource indicator, tidied up as URLs are.",
        metadata_document=with_members(lambda settings: {"resource": str(httpx.URL(settings.indicator))}),
    ),
    defect(
        "resource-is-the-merchants-api (META-02 META-05): The metadata name the address of the merchant's "
        "API as the service's own identifier.",
        metadata_document=with_members(lambda settings: {"resource": settings.merchant_api_url}),
    ),
    defect(
        "resource-is-the-authorization-server (META-02 META-05): The metadata name the Resource's "
        "authorization server as the service's own identifier.",
        metadata_document=with_members(lambda settings: {"resource": settings.authorization_server}),
    ),
    defect(
        "resource-left-empty (META-02 META-05): The metadata have an empty resource.",
        metadata_document=with_members(lambda _: {"resource": ""}),
    ),
    defect(
        "resource-in-a-list (META-02 META-05): The metadata have a list of resources.",
        metadata_document=with_members(lambda settings: {"resource": [settings.service_url]}),
    ),
    defect(
        "authorization-server-is-the-gateway (META-03 CHAL-02): The metadata name the gateway instead of "
        "the Resource's authorization server.",
        metadata_document=with_members(lambda settings: {"authorization_servers": [settings.base_url]}),
    ),
    defect(
        "authorization-servers-is-a-string (META-03 CHAL-02): The metadata have one string where an array "
        "of strings belongs.",
        metadata_document=with_members(
            lambda settings: {"authorization_servers": settings.authorization_server}
        ),
    ),
    defect(
        "authorization-servers-are-objects (META-03 CHAL-02): The metadata describe each authorization "
        "server by an object.",
        metadata_document=with_members(
            lambda settings: {"authorization_servers": [{"issuer": settings.authorization_server}]}
        ),
    ),
    defect(
        "authorization-server-misnamed (META-03 CHAL-02): The metadata name authorization_server, in the "
        "singular.",
        metadata_document=lambda settings: {
            "resource": settings.service_url,
            "authorization_server": settings.authorization_server,
        },
    ),
    defect(
        "resource-anew-every-time (META-04 META-05 CHAL-02 CHAL-06): The metadata have another resource on "
        "every fetch.",
        metadata_document=with_members(
            lambda settings: {"resource": f"{settings.service_url}/?v={secrets.token_hex(4)}"}
        ),
    ),
    defect(
        "metadata-gone-every-third-time (META-04 META-01 META-02 META-03 META-05 CHAL-02 CHAL-06 "
        "ROBUST-02): Every third fetch of the metadata answers 404.",
        around=gone_every(3),
    ),
    defect(
        "metadata-made-by-the-first-call (META-04): The metadata answer 404 until the operation is called "
        "for the first time.",
        around=made_by_the_first_call(),
    ),
    defect(
        "metadata-change-by-use (META-04 META-03 CHAL-02): Once the operation was used, the metadata name "
        "another authorization server.",
        around=changed_by_use(),
    ),
    defect(
        "metadata-labelled-as-text (META-05): The metadata are served as text/plain.",
        metadata_type="text/plain",
    ),
    defect(
        "resource-names-a-path-that-the-metadata-do-not (META-05): The resource has a path, and its "
        "metadata are where those of the origin belong.",
        metadata_document=with_members(lambda settings: {"resource": f"{settings.service_url}/orders"}),
    ),
    defect(
        "resource-on-another-host (META-05): The resource is the public address of a service that is "
        "reached by another one.",
        metadata_document=with_members(lambda _: {"resource": "https://orders.operator.example"}),
    ),
    defect(
        "forbidden-without-a-token (CHAL-01 CHAL-02 CHAL-03): Without a token the operation answers 403.",
        answer_of=telling({"no token"}, 403),
    ),
    defect(
        "login-page-without-a-token (CHAL-01 CHAL-02 CHAL-03): Without a token the operation sends its "
        "caller to a login page.",
        answer_of=telling({"no token"}, 302, ("location", "/login")),
    ),
    defect(
        "login-page-for-people (CHAL-01): Whoever has no token, and does not ask for JSON by its name, is "
        "sent to a login page.",
        around=for_people(to_log_in, "/orders"),
    ),
    defect(
        "samples-without-a-token (CHAL-01 CHAL-02 CHAL-03): Without a token the operation answers 200 with "
        "sample orders.",
        answer_of=sample_orders,
    ),
    defect(
        f"challenge-without-a-pointer ({EVERY_CHALLENGE}): The challenge does not say where the metadata "
        f"are.",
        challenges=lambda _: ('Bearer realm="orders", error="invalid_token"',),
    ),
    defect(
        f"challenge-for-basic-alone ({EVERY_CHALLENGE}): The challenge asks for Basic.",
        challenges=lambda facts: (f'Basic realm="orders", resource_metadata="{facts.metadata_url}"',),
    ),
    defect(
        f"challenge-with-broken-quotes ({EVERY_CHALLENGE}): The address in the challenge opens a quote that "
        f"nothing closes.",
        challenges=lambda facts: (f'Bearer resource_metadata="{facts.metadata_url}',),
    ),
    defect(
        f"no-challenge-in-the-header ({EVERY_CHALLENGE}): The 401 carries no WWW-Authenticate.",
        challenged=lambda _reply, _outcome: False,
    ),
)
