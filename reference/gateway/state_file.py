"""The gateway's data in a file, saved before each answer, so that it survives a killed process."""

from __future__ import annotations

import io
import os
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from cryptography.hazmat.primitives.asymmetric.types import PrivateKeyTypes
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from gateproof.reference.gateway.clock import Clock
from gateproof.reference.gateway.store import Store

_KEYS = (ec.EllipticCurvePrivateKey, rsa.RSAPrivateKey, ed25519.Ed25519PrivateKey)


class _Pickler(pickle.Pickler):
    """Writes private keys as PKCS #8, because they cannot be pickled."""

    def reducer_override(self, value: Any) -> Any:
        if not isinstance(value, _KEYS):
            return NotImplemented
        octets = value.private_bytes(
            serialization.Encoding.DER, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
        return _private_key, (octets,)


def _private_key(octets: bytes) -> PrivateKeyTypes:
    return serialization.load_der_private_key(octets, None)


class StateFile:
    """One file with the tables and the clock's offset, which is replaced as a whole."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._fresh = path.with_name(f"{path.name}.new")

    def load(self, clock: Clock) -> Store | None:
        """The saved tables, and the clock set as it was saved; None at the first start."""
        if not self._path.exists():
            return None
        # Only the gateway itself writes this file.
        store, clock.offset_s = pickle.loads(self._path.read_bytes())  # noqa: S301
        assert isinstance(store, Store)  # noqa: S101 - for the type checker
        return store

    def save(self, store: Store, clock: Clock) -> None:
        octets = io.BytesIO()
        _Pickler(octets).dump((store, clock.offset_s))
        self._fresh.unlink(missing_ok=True)
        with os.fdopen(os.open(self._fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(octets.getvalue())
        self._fresh.replace(self._path)


def saving(app: ASGIApp, save: Callable[[], None]) -> ASGIApp:
    """Wraps an application, and saves before each answer is sent."""

    async def saved(scope: Scope, receive: Receive, send: Send) -> None:
        async def saved_first(message: Message) -> None:
            if message["type"] == "http.response.start":
                save()
            await send(message)

        await app(scope, receive, saved_first)

    return saved
