"""The HTTP client of agent and service: with TLS, limits of time and size, and no redirects."""

from __future__ import annotations

import httpx

from gateproof.reference.agent.wire import Answer, Outgoing
from gateproof.reference.playground.walk import Halted

MOST_OCTETS = 1024 * 1024
PATIENCE_S = 20.0
# How long a call is held open while a person clicks through the next steps.
HELD_S = 1800.0


class Wire:
    """The playground's HTTP client; it has no cookies and no credentials."""

    def __init__(self, client: httpx.AsyncClient) -> None:
        self._client = client

    async def ask(self, request: Outgoing, *, patience_s: float = PATIENCE_S) -> Answer:
        """The answer, with any status; raises Halted without an answer."""
        timeout = httpx.Timeout(patience_s, connect=PATIENCE_S)
        built = self._client.build_request(
            request.method, request.url, headers=dict(request.headers), content=request.body, timeout=timeout
        )
        body = bytearray()
        try:
            answer = await self._client.send(built, stream=True)
            try:
                async for chunk in answer.aiter_bytes():
                    body += chunk
                    if len(body) > MOST_OCTETS:
                        raise Halted("The answer is too long.")
            finally:
                await answer.aclose()
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise Halted(f"There was no answer ({type(error).__name__}).") from None
        headers = tuple((name.lower(), value) for name, value in answer.headers.items())
        return Answer(status=answer.status_code, headers=headers, body=bytes(body))
