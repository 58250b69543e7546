"""`python half_gateway.py LAST STATUS …` serves a gateway that works up to one step and refuses the rest.

Everything up to the step is the honest reference's. After it, every request gets the same refusal, in the
words that would be right for some of them. With the status 0, the first such request ends the process.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence
from dataclasses import replace
from urllib.parse import parse_qs

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from gateproof.reference.gateway.command import main as serve_gateway
from gateproof.reference.gateway.gateway import Gateway
from gateproof.reference.gateway.policies import Policies

STEPS = ("discovery", "registration", "sign-in", "tokens", "proxy-tokens")
SAYING = {400: "invalid_grant", 401: "invalid_client", 404: "not_found", 410: "reauthentication_required"}
CHALLENGE = (b"www-authenticate", b'Bearer realm="gateway", error="invalid_token"')


def step_of(path: str, body: bytes) -> int:
    """The step that a request belongs to."""
    if path.endswith("/oauth2/token"):
        grant = parse_qs(body.decode("latin-1")).get("grant_type", [""])[0]
        return STEPS.index("proxy-tokens" if grant == "client_credentials" else "tokens")
    if path.endswith("/api/credentials/token"):
        return len(STEPS)
    if path.endswith("/api/register"):
        return STEPS.index("registration")
    if path.endswith("/oauth2/auth") or "/sign-in/" in path:
        return STEPS.index("sign-in")
    return STEPS.index("discovery")


def working_up_to(last: str, status: int) -> Policies:
    said = json.dumps({"error": SAYING.get(status, ""), "error_description": "this was refused"}).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(said)).encode())]
    headers += [(b"cache-control", b"no-store"), *([CHALLENGE] if status == 401 else [])]

    def around(app: ASGIApp, _gateway: Gateway) -> ASGIApp:
        async def half(scope: Scope, receive: Receive, send: Send) -> None:
            messages: list[Message] = [await receive()]
            while messages[-1].get("more_body"):
                messages.append(await receive())
            body = b"".join(message.get("body", b"") for message in messages)

            async def again() -> Message:
                return messages.pop(0) if messages else await receive()

            if step_of(scope["path"], body) <= STEPS.index(last):
                await app(scope, again, send)
                return
            if status == 0:
                os._exit(70)
            await send({"type": "http.response.start", "status": status, "headers": headers})
            await send({"type": "http.response.body", "body": said})

        return half

    return replace(Policies(), around=around)


def main(argv: Sequence[str]) -> int:
    last, status, *rest = argv
    return serve_gateway(rest, working_up_to(last, int(status)))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
