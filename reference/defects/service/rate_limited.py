"""Services with a defect behind a rate limiter, which makes callers retry."""

from __future__ import annotations

from itertools import count

from starlette.types import ASGIApp, Receive, Scope, Send

from gateproof.reference.defects.service.row import defect
from gateproof.reference.defects.service.users import reused_on_status, until_it_expires
from gateproof.reference.service.backend import Backend


def by_turns(app: ASGIApp, _backend: Backend) -> ASGIApp:
    """Every second call of the operation is answered 503 with Retry-After: 0."""
    turns = count()

    async def limited(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["path"] != "/orders" or next(turns) % 2 == 0:
            await app(scope, receive, send)
            return
        headers = [(b"retry-after", b"0"), (b"content-length", b"0")]
        await send({"type": "http.response.start", "status": 503, "headers": headers})
        await send({"type": "http.response.body", "body": b""})

    return limited


DEFECTS = (
    defect(
        "merchant-token-kept-by-subject-behind-a-limiter (BACK-08): The service caches merchant tokens by "
        "user, without the Project, and answers every second call with 503 and Retry-After.",
        cache_key=lambda facts: str(facts.claims.get("sub")),
        cached_until=until_it_expires,
        around=by_turns,
    ),
    defect(
        "merchant-token-kept-for-a-refusal-behind-a-limiter (BACK-11): If redemption answers 410, the "
        "service uses the previous merchant token. It answers every second call with 503 and Retry-After.",
        around=by_turns,
        **reused_on_status(410),
    ),
)
