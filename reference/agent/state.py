"""The stored state of an install: its client at each authorization server, and its tokens."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from gateproof.reference.agent.policy.registration import Client

_CLIENTS, _TOKENS = "clients.json", "tokens.json"


class State:
    """Files that only their owner may read; an unreadable file counts as missing."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def client(self, authorization_server: str) -> Client | None:
        """The client at this authorization server; its secret is never sent to another one."""
        found = self._read(_CLIENTS).get(authorization_server)
        try:
            return Client(**found) if isinstance(found, dict) else None
        except TypeError:
            return None

    def keep_client(self, authorization_server: str, client: Client) -> None:
        entry = {"client_id": client.client_id, "client_secret": client.client_secret}
        self._write(_CLIENTS, {**self._read(_CLIENTS), authorization_server: entry})

    def tokens(self, service_url: str) -> dict[str, Any] | None:
        found = self._read(_TOKENS).get(service_url)
        return found if isinstance(found, dict) and isinstance(found.get("access_token"), str) else None

    def keep_tokens(self, service_url: str, tokens: Mapping[str, Any]) -> None:
        self._write(_TOKENS, {**self._read(_TOKENS), service_url: dict(tokens)})

    def forget_tokens(self, service_url: str) -> None:
        kept = self._read(_TOKENS)
        if kept.pop(service_url, None) is not None:
            self._write(_TOKENS, kept)

    def _read(self, name: str) -> dict[str, Any]:
        try:
            found = json.loads((self._folder / name).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return {}
        return found if isinstance(found, dict) else {}

    def _write(self, name: str, document: Mapping[str, Any]) -> None:
        """Replaces the file atomically."""
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        fresh = self._folder / f"{name}.new"
        descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            json.dump(document, file)
        fresh.replace(self._folder / name)
