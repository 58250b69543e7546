"""Services that answer a request again from memory, by a header that its caller chose."""

from __future__ import annotations

from collections.abc import Callable

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from gateproof.reference.defects.service.row import defect, mcp_defect
from gateproof.reference.service.backend import Backend


def repeated_by(name: bytes, *, only_with_a_token: bool) -> Callable[[ASGIApp, Backend], ASGIApp]:
    """The first successful answer to a request with this header is the answer to all with the same value."""

    def around(app: ASGIApp, _backend: Backend) -> ASGIApp:
        answers: dict[bytes, list[Message]] = {}

        async def repeating(scope: Scope, receive: Receive, send: Send) -> None:
            headers = dict(scope["headers"])
            key = headers.get(name, b"")
            may_repeat = key in answers and (not only_with_a_token or b"authorization" in headers)
            if may_repeat:
                for message in answers[key]:
                    await send(message)
                return
            sent: list[Message] = []

            async def noting(message: Message) -> None:
                sent.append(message)
                await send(message)

            await app(scope, receive, noting)
            if key and sent[0]["status"] < 300:
                answers[key] = sent

        return repeating

    return around


DEFECTS = (
    defect(
        "answer-by-idempotency-key (BACK-10): The service repeats its answer to a request with the same "
        "Idempotency-Key, without looking at the user.",
        around=repeated_by(b"idempotency-key", only_with_a_token=True),
    ),
    defect(
        "answer-by-request-id (CHAL-01 BACK-10): The service repeats its answer to a request with the same "
        "X-Request-ID, before it looks at the token.",
        around=repeated_by(b"x-request-id", only_with_a_token=False),
    ),
    mcp_defect(
        "mcp-answer-by-idempotency-key (BACK-10): The server repeats its answer to a request with the same "
        "Idempotency-Key, without looking at the user.",
        around=repeated_by(b"idempotency-key", only_with_a_token=True),
    ),
    mcp_defect(
        "mcp-answer-by-request-id (CHAL-01 BACK-10): The server repeats its answer to a request with the "
        "same X-Request-ID, before it looks at the token.",
        around=repeated_by(b"x-request-id", only_with_a_token=False),
    ),
)
