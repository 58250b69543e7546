"""The clients of the merchant, one for each Resource, and their scripts."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, replace
from typing import Literal

from gateproof.fakes.merchant.script import Answer, Script

Step = Literal["provisioning", "refresh"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Client:
    """A gateway as a client of the merchant, for one Resource.

    `token_endpoint` is the URL that the gateway was configured with, if it is not the merchant's own. With a
    proxy in between, the audience of an assertion is the proxy's URL.
    """

    client_id: str
    jwks_uri: str | None = None
    indicator: str | None = None
    token_endpoint: str | None = None


class Clients:
    """The clients in order of registration, with scripts by client, or by client and login."""

    def __init__(self) -> None:
        self._clients: dict[str, Client] = {}
        self._scripts: dict[tuple[str, str | None], Script] = {}
        self._tapes: dict[tuple[str, str | None], deque[Answer]] = {}
        self._trusted: str | None = None

    def trust(self, base_url: str) -> None:
        """Accepts every Resource of this gateway as a client.

        Its client ID is the URL of its authorization server; its JWKS is at that URL followed by /jwks.
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
        """Replaces the script of a client, or of one login at it, together with its tape."""
        self._scripts[client_id, login] = script
        self._tapes[client_id, login] = deque(script.answers)

    def script(self, client_id: str, login: str | None) -> Script:
        return self._scripts.get(self._key(client_id, login), Script())

    def next_answer(self, client_id: str, login: str | None, step: Step) -> Answer:
        """The next answer of the tape, or the permanent answer when the tape is used up."""
        tape = self._tapes.get(self._key(client_id, login))
        if tape:
            return tape.popleft()
        script = self.script(client_id, login)
        return script.provisioning if step == "provisioning" else script.refresh

    def _key(self, client_id: str, login: str | None) -> tuple[str, str | None]:
        return (client_id, login) if (client_id, login) in self._scripts else (client_id, None)
