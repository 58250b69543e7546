"""Signing keys: those of the core, which rotate, and one for each Resource."""

import json

from joserfc.jwk import ECKey, KeySet

from .clock import Clock
from .credentials import identifier
from .database import Database

ALGORITHM = "ES256"
# A retired key is published and accepted for as long as a token that it signed can live.
ACCESS_TOKEN_LIFETIME_S = 3600


def generate() -> ECKey:
    return ECKey.generate_key("P-256", {"kid": identifier("key"), "use": "sig", "alg": ALGORITHM})


def dump(key: ECKey) -> str:
    return json.dumps(key.as_dict(private=True))


def load(text: str) -> ECKey:
    return ECKey.import_key(json.loads(text))


class CoreKeys:
    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    def exist(self) -> bool:
        return self._database.one("SELECT 1 FROM core_keys") is not None

    def rotate(self) -> None:
        key, now = generate(), self._clock.now()
        with self._database.transaction():
            self._database.change("UPDATE core_keys SET retired_at = ? WHERE retired_at IS NULL", (now,))
            self._database.change("INSERT INTO core_keys VALUES (?, ?, ?, NULL)", (key.kid, dump(key), now))

    def signing_key(self) -> ECKey:
        row = self._database.one("SELECT private_key FROM core_keys WHERE retired_at IS NULL")
        assert row is not None, "there is a core key from the start"
        return load(row["private_key"])

    def verification_keys(self) -> KeySet:
        rows = self._database.all(
            "SELECT private_key FROM core_keys WHERE retired_at IS NULL OR retired_at > ? ORDER BY created_at DESC",
            (self._clock.now() - ACCESS_TOKEN_LIFETIME_S,),
        )
        return KeySet([load(row["private_key"]) for row in rows])
