"""The clients of the merchant, one a Resource, and the scripts that they meet."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, replace
from typing import Literal

from gateproof.fakes.merchant.script import Answer, Script

Step = Literal["provisioning", "refresh"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Client:
    """What a gateway calls itself at the merchant for one Resource.

    `token_endpoint` is where it was told to find the token endpoint, if that is not the merchant's own
    address: behind a proxy the address in an assertion is the proxy's.
    """

    client_id: str
    jwks_uri: str | None = None
    indicator: str | None = None
    token_endpoint: str | None = None


class Clients:
    """Registered clients in order of registration, with a script for each or for one login at it."""

    def __init__(self) -> None:
        self._clients: dict[str, Client] = {}
        self._scripts: dict[tuple[str, str | None], Script] = {}
        self._tapes: dict[tuple[str, str | None], deque[Answer]] = {}
        self._trusted: str | None = None

    def trust(self, base_url: str) -> None:
        """Whatever Resource is made at this gateway is a client from then on.

        It goes by the address of its authorization server, and its keys are where that address says.
        """
        self._trusted = f"{base_url.rstrip('/')}/"

    def register(self, client: Client) -> None:
        self._clients[client.client_id] = client

    def set_jwks_uri(self, client_id: str, jwks_uri: str) -> bool:
        client = self._clients.get(client_id)
        if client is None:
            return False
        self._clients[client_id] = replace(client, jwks_uri=jwks_uri)
        return True

    def find(self, client_id: object) -> Client | None:
        if not isinstance(client_id, str):
            return None
        if (
            client_id not in self._clients
            and self._trusted is not None
            and client_id.startswith(self._trusted)
        ):
            self.register(Client(client_id=client_id, jwks_uri=f"{client_id}/jwks"))
        return self._clients.get(client_id)

    def newest_first(self) -> list[Client]:
        return list(reversed(self._clients.values()))

    def follow(self, client_id: str, login: str | None, script: Script) -> None:
        """Replace the script of a client, or of one login at it, tape and all."""
        self._scripts[client_id, login] = script
        self._tapes[client_id, login] = deque(script.answers)

    def script(self, client_id: str, login: str | None) -> Script:
        return self._scripts.get(self._meant(client_id, login), Script())

    def next_answer(self, client_id: str, login: str | None, step: Step) -> Answer:
        """Take the next answer off the tape; after its end, the standing behaviour."""
        tape = self._tapes.get(self._meant(client_id, login))
        if tape:
            return tape.popleft()
        script = self.script(client_id, login)
        return script.provisioning if step == "provisioning" else script.refresh

    def _meant(self, client_id: str, login: str | None) -> tuple[str, str | None]:
        return (client_id, login) if (client_id, login) in self._scripts else (client_id, None)
