"""The install: its clients and tokens, in one private file that is only ever replaced as a whole."""

from __future__ import annotations

import asyncio
import fcntl
import json
import os
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from .errors import AgentError

EARLY_S = 30.0
LOCK_TIMEOUT_S = 30.0
LOCK_POLL_S = 0.1


@dataclass(frozen=True)
class Client:
    client_id: str
    client_secret: str
    redirect_uri: str


@dataclass(frozen=True)
class Tokens:
    authorization_server: str  # who issued them: nobody else gets the refresh token
    access_token: str
    refresh_token: str | None
    expires_at: float | None

    def expired(self) -> bool:
        return self.expires_at is not None and time.time() >= self.expires_at - EARLY_S


class Store:
    def __init__(self, folder: Path) -> None:
        self._path = folder / "install.json"

    @asynccontextmanager
    async def locked(self) -> AsyncIterator[None]:
        """Two runs of one install do not get authorized beside each other. The lock ends with its process."""
        self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with open(self._path.with_suffix(".lock"), "a", encoding="utf-8") as file:
            try:
                async with asyncio.timeout(LOCK_TIMEOUT_S):
                    while not _try_lock(file.fileno()):
                        await asyncio.sleep(LOCK_POLL_S)
            except TimeoutError:
                raise AgentError("Another run of this agent is being authorized.") from None
            yield

    def client(self, authorization_server: str) -> Client | None:
        return _load(Client, self._read()["clients"].get(authorization_server))

    def keep_client(self, authorization_server: str, client: Client | None) -> None:
        content = self._read()
        _put(content["clients"], authorization_server, client)
        self._write(content)

    def tokens(self, service: str) -> Tokens | None:
        return _load(Tokens, self._read()["tokens"].get(service))

    def keep_tokens(self, service: str, tokens: Tokens | None) -> None:
        content = self._read()
        _put(content["tokens"], service, tokens)
        self._write(content)

    def _read(self) -> dict[str, dict[str, Any]]:
        try:
            content = json.loads(self._path.read_text("utf-8"))
            return {"clients": dict(content["clients"]), "tokens": dict(content["tokens"])}
        except (OSError, ValueError, KeyError, TypeError):
            return {"clients": {}, "tokens": {}}

    def _write(self, content: dict[str, dict[str, Any]]) -> None:
        descriptor, name = tempfile.mkstemp(dir=self._path.parent, prefix=".install-")  # mode 0600
        try:
            with os.fdopen(descriptor, "w", encoding="utf-8") as file:
                json.dump(content, file)
                file.flush()
                os.fsync(file.fileno())
            os.replace(name, self._path)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise


def _try_lock(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _put(table: dict[str, Any], key: str, value: Any) -> None:
    if value is None:
        table.pop(key, None)
    else:
        table[key] = asdict(value)


def _load(kind: type, fields: Any) -> Any:
    try:
        return kind(**fields)
    except TypeError:
        return None
