"""Services that leak credentials to the agent or into the log."""

from __future__ import annotations

import base64
import json
import traceback
from collections.abc import Callable
from dataclasses import replace
from typing import Any
from urllib.parse import quote

from gateproof.reference.defects.service.row import defect
from gateproof.reference.deviations.altered_answers import Answered, Asked, altering_answers
from gateproof.reference.service.backend import Backend
from gateproof.reference.service.policy import answers, metadata_and_challenge, redemption
from gateproof.reference.service.policy.answers import answer_of
from gateproof.reference.service.policy.redemption import CallFacts
from gateproof.reference.service.settings import Settings
from gateproof.reference.service.wire import Asked as AskedOf
from gateproof.reference.service.wire import Outcome, Outgoing, Reply, as_json

Put = Callable[[Answered, str], Answered]


def leaking(credential: Callable[[CallFacts], str], put: Put) -> dict[str, Any]:
    """A credential of the last call to the merchant is put into successful answers."""
    seen: list[str] = []

    def merchant_request(facts: CallFacts) -> Outgoing:
        seen[:] = [credential(facts)]
        return redemption.merchant_request(facts)

    def change(asked: Asked, answered: Answered, _backend: Backend) -> Answered:
        served = answered.status == 200 and asked.path in ("/orders", "/mcp") and b"order" in answered.body
        return put(answered, seen[0]) if served and seen else answered

    return {"merchant_request": merchant_request, "around": altering_answers(change)}


def merchant_token(facts: CallFacts) -> str:
    return facts.merchant_token


def proxy_token(facts: CallFacts) -> str:
    return facts.proxy_token


def proxy_secret(facts: CallFacts) -> str:
    return facts.settings.proxy_client_secret


def in_a_header(name: str, write: Callable[[str], str] = str) -> Put:
    return lambda answered, secret: answered.with_header(name, write(secret))


def in_a_member(name: str, write: Callable[[str], Any] = str) -> Put:
    def put(answered: Answered, secret: str) -> Answered:
        try:
            document = json.loads(answered.body)
        except ValueError:
            return answered
        return replace(answered, body=json.dumps(document | {name: write(secret)}).encode())

    return put


def in_a_comment(answered: Answered, secret: str) -> Answered:
    """The credential is in an HTML comment after the JSON of the answer."""
    return replace(answered, body=answered.body + f"\n<!-- {secret} -->".encode())


def as_base64(secret: str) -> str:
    return base64.b64encode(f"token={secret}".encode()).decode()


def as_hex(secret: str) -> str:
    return secret.encode().hex()


def as_pieces(secret: str) -> list[str]:
    return [secret[at : at + 24] for at in range(0, len(secret), 24)]


def detailed(said: Callable[[Outcome], Any]) -> Callable[[Outcome], Reply]:
    """An error contains this detail."""

    def answer(outcome: Outcome) -> Reply:
        reply = answer_of(outcome)
        if outcome.trouble is None or reply.status == 200:
            return reply
        kept = tuple(header for header in reply.headers if header[0] not in ("content-type", "cache-control"))
        return as_json(reply.status, {"error": "upstream", "detail": said(outcome)}, *kept)

    return answer


def body_relayed(outcome: Outcome) -> Any:
    """The response body of the other party, unchanged."""
    trouble = outcome.trouble
    return trouble.answer.text if trouble is not None and trouble.answer is not None else ""


def token_error_relayed(outcome: Outcome) -> Any:
    """The response body of a failed request for a Proxy token."""
    trouble = outcome.trouble
    asked_for_one = trouble is not None and b"client_credentials" in (trouble.asked.body or b"")
    return body_relayed(outcome) if asked_for_one else ""


def unreadable_quoted(outcome: Outcome) -> Any:
    """`except JSONDecodeError: return 502, f"bad answer: {text}"`."""
    trouble = outcome.trouble
    unread = trouble is not None and trouble.answer is not None and trouble.answer.status == 200
    return f"bad answer: {body_relayed(outcome)}" if unread else ""


def relayed_where(
    status: int, asked: Callable[[Outgoing], bool] = lambda _: True
) -> Callable[[Outcome], Any]:
    """The response body of the other party, only with this status."""

    def said(outcome: Outcome) -> Any:
        trouble = outcome.trouble
        blamed = trouble is not None and trouble.answer is not None and trouble.answer.status == status
        return body_relayed(outcome) if blamed and trouble is not None and asked(trouble.asked) else ""

    return said


def unsendable_quoted(outcome: Outcome) -> Any:
    """`except LocalProtocolError as error: return 502, str(error)`."""
    trouble = outcome.trouble
    headers = trouble.asked.headers.values() if trouble is not None and trouble.answer is None else ()
    return "".join(f"Illegal header value {value.encode()!r}" for value in headers if "\n" in value)


def request_quoted(outcome: Outcome) -> Any:
    """The failed request with its headers, as on a debug page."""
    trouble = outcome.trouble
    if trouble is None:
        return {}
    return {
        "url": trouble.asked.url,
        "headers": {name.title(): each for name, each in trouble.asked.headers.items()},
    }


def stack_trace(outcome: Outcome) -> Any:
    """A stack trace with the local variables of each frame."""
    trouble = outcome.trouble
    stack = "".join(traceback.format_stack(limit=3))
    return f"{stack}    headers = {dict(trouble.asked.headers) if trouble else {}!r}"


def as_curl(outcome: Outcome) -> Any:
    """The headers of the failed request as options of curl."""
    asked = outcome.trouble.asked if outcome.trouble else None
    return " ".join(f"-H '{name}: {value}'" for name, value in asked.headers.items()) if asked else ""


def with_member(name: str, said: Callable[[Settings], Any]) -> Callable[[Settings], Any]:
    return lambda settings: metadata_and_challenge.metadata_document(settings) | {name: said(settings)}


def logging(said: Callable[[AskedOf, Outcome], str]) -> dict[str, Any]:
    """Each log line also contains this text."""

    def logged(asked: AskedOf, reply: Reply, outcome: Outcome) -> str:
        return f"{answers.logged(asked, reply, outcome)} {said(asked, outcome)}"

    return {"logged": logged}


def authorization_of(asked: AskedOf, _outcome: Outcome) -> str:
    return " ".join(asked.headers_named("authorization"))


def refused_token(asked: AskedOf, outcome: Outcome) -> str:
    return f"refused: {authorization_of(asked, outcome)}" if outcome.kind == "not accepted" else ""


def failing_request(_asked: AskedOf, outcome: Outcome) -> str:
    return f"failed: {dict(outcome.trouble.asked.headers)}" if outcome.trouble is not None else ""


EVERY = "SECRET-02 SECRET-03 SECRET-04"

DEFECTS = (
    defect(
        "merchant-token-in-a-header (SECRET-02): The answer has a debug header with the merchant token.",
        **leaking(merchant_token, in_a_header("x-upstream-authorization", lambda token: f"Bearer {token}")),
    ),
    defect(
        "merchant-token-in-a-cookie (SECRET-02): The answer sets a cookie with the merchant token.",
        **leaking(
            merchant_token,
            in_a_header("set-cookie", lambda token: f"upstream={quote(token)}; HttpOnly; Secure"),
        ),
    ),
    defect(
        "merchant-token-in-the-etag (SECRET-02): The ETag of the answer is the merchant token in "
        "hexadecimal.",
        **leaking(merchant_token, in_a_header("etag", lambda token: f'"{as_hex(token)}"')),
    ),
    defect(
        "merchant-token-in-a-debug-field (SECRET-02): The answer has a member with the merchant token in "
        "base64, after a prefix.",
        **leaking(merchant_token, in_a_member("_debug", as_base64)),
    ),
    defect(
        "merchant-token-in-pieces (SECRET-02): The answer has a member with the merchant token in pieces.",
        **leaking(merchant_token, in_a_member("trace", as_pieces)),
    ),
    defect(
        "merchant-token-in-a-comment (SECRET-02): The answer ends with a comment that contains the merchant "
        "token.",
        **leaking(merchant_token, in_a_comment),
    ),
    defect(
        "proxy-token-in-a-header (SECRET-03): The answer has an X-Proxy-Token header with the Proxy token.",
        **leaking(proxy_token, in_a_header("x-proxy-token")),
    ),
    defect(
        "proxy-token-in-a-debug-field (SECRET-03): The answer has a member with the Proxy token in reverse "
        "order.",
        **leaking(proxy_token, in_a_member("cache_key", lambda token: token[::-1])),
    ),
    defect(
        "proxy-secret-in-a-debug-field (SECRET-04): The answer has a member with the Proxy client's secret.",
        **leaking(proxy_secret, in_a_member("config", lambda secret: {"client_secret": secret})),
    ),
    defect(
        "proxy-secret-in-the-metadata (SECRET-04): The metadata document contains the Proxy client's Basic "
        "credentials.",
        metadata_document=with_member(
            "token_endpoint_auth",
            lambda settings: base64.b64encode(
                f"{settings.proxy_client_id}:{settings.proxy_client_secret}".encode()
            ).decode(),
        ),
    ),
    defect(
        "proxy-client-in-the-metadata (SECRET-04): The metadata document contains the Proxy client's ID as "
        "client_id.",
        metadata_document=with_member("client_id", lambda settings: settings.proxy_client_id),
    ),
    defect(
        f"errors-relayed (SECRET-06 {EVERY}): The error to the agent contains the response body of gateway "
        f"or merchant.",
        answer_of=detailed(body_relayed),
    ),
    defect(
        f"proxy-token-errors-relayed (SECRET-06 {EVERY}): The error to the agent contains the response body "
        f"of a failed request for a Proxy token.",
        answer_of=detailed(token_error_relayed),
    ),
    defect(
        "unreadable-answers-quoted (SECRET-06 SECRET-02 SECRET-03): The error to the agent contains a 200 "
        "response of gateway or merchant that is unusable.",
        answer_of=detailed(unreadable_quoted),
    ),
    defect(
        f"bad-requests-relayed (SECRET-06 {EVERY}): The error to the agent contains the body of a 400 "
        f"response of gateway or merchant.",
        answer_of=detailed(relayed_where(400)),
    ),
    defect(
        f"proxy-clients-refusal-relayed (SECRET-06 {EVERY}): The error to the agent contains the body of a "
        f"403 response to a request for a Proxy token.",
        answer_of=detailed(relayed_where(403, lambda asked: b"grant_type" in asked.body)),
    ),
    defect(
        f"merchants-not-found-relayed (SECRET-06 {EVERY}): The error to the agent contains the body of a 404 "
        f"response of the merchant.",
        answer_of=detailed(relayed_where(404, lambda asked: asked.method == "GET")),
    ),
    defect(
        "unsendable-headers-quoted (SECRET-06 SECRET-02 SECRET-03): The error to the agent contains the HTTP "
        "library's message about a header value that cannot be sent, with the value.",
        answer_of=detailed(unsendable_quoted),
    ),
    defect(
        f"failing-request-quoted (SECRET-06 {EVERY}): The error to the agent contains the failed request "
        f"with its headers.",
        answer_of=detailed(request_quoted),
    ),
    defect(
        f"stack-trace-with-variables (SECRET-06 {EVERY}): The error to the agent contains a stack trace with "
        f"local variables.",
        answer_of=detailed(stack_trace),
    ),
    defect(
        f"failing-request-as-a-command (SECRET-06 {EVERY}): The error to the agent contains the headers of "
        f"the failed request as options of curl.",
        answer_of=detailed(as_curl),
    ),
    defect(
        "authorization-logged (SECRET-05): The service logs the Authorization header of every request.",
        **logging(authorization_of),
    ),
    defect(
        "refused-tokens-logged (SECRET-05): The service logs every refused token.",
        **logging(refused_token),
    ),
    defect(
        "failing-requests-logged (SECRET-05 SECRET-08): The service logs the headers of every failed request "
        "to gateway or merchant.",
        **logging(failing_request),
    ),
)
