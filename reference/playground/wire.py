"""How agent and service ask: over TLS, bounded in time and size, and following nobody."""

from __future__ import annotations

import httpx

from gateproof.reference.agent.wire import Answer, Outgoing
from gateproof.reference.playground.walk import Halted

MOST_OCTETS = 1024 * 1024
PATIENCE_S = 20.0
# As long as a person may take for the steps behind a call that is held open.
HELD_S = 1800.0


class Wire:
    """The playground's one client; it keeps no cookie and knows no credential."""

    def __init__(self, client: httpx.AsyncClient) -> None:
        self._client = client

    async def ask(self, request: Outgoing, *, patience_s: float = PATIENCE_S) -> Answer:
        """The answer, whatever it says; where none comes, the walk ends."""
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
                        raise Halted("The answer is too long to be one.")
            finally:
                await answer.aclose()
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise Halted(f"No answer came ({type(error).__name__}).") from None
        headers = tuple((name.lower(), value) for name, value in answer.headers.items())
        return Answer(status=answer.status_code, headers=headers, body=bytes(body))
