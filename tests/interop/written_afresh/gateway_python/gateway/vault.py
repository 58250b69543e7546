"""The vault: merchant tokens by Project, user, Resource and login, refreshed when one is asked for near its expiry.

A refresh is made by one worker at a time: it takes a lease on the entry, and the others wait for its result.
A sign-in that stores a new token in the meantime takes precedence over the refresh.
"""

import asyncio
import json
import logging
import time
from dataclasses import dataclass
from sqlite3 import Row

from cryptography.fernet import Fernet

from . import credentials
from .clock import Clock
from .database import Database
from .merchants import IssuedToken, MerchantRefused, Merchants, MerchantTrouble
from .projects import Resource

# Near expiry is the last tenth of a lifetime, and a minute at most.
NEAR_EXPIRY_SHARE, NEAR_EXPIRY_MAX_S = 0.1, 60
# Leases are a matter of running processes, so their clock is the machine's, not the gateway's.
LEASE_S, WAIT_S, POLL_S = 8, 10, 0.05

log = logging.getLogger("gateway.vault")


class NoMerchantToken(Exception):
    """No sign-in of the user has brought a merchant token."""


class ReauthenticationRequired(Exception):
    """The merchant token has expired, and only the user can bring another one."""


class MerchantUnavailable(Exception):
    """The merchant token has expired, and the merchant is in trouble."""


@dataclass(frozen=True)
class Place:
    """Where a merchant token is kept."""

    project_id: str
    sub: str
    resource_id: str
    login: str

    def values(self) -> tuple[str, str, str, str]:
        return self.project_id, self.sub, self.resource_id, self.login


@dataclass(frozen=True)
class MerchantToken:
    access_token: str
    expires_at: float | None
    scopes: list[str] | None


_AT_PLACE = "project_id = ? AND sub = ? AND resource_id = ? AND login = ?"


class Vault:
    def __init__(self, database: Database, clock: Clock, merchants: Merchants, vault_key: str) -> None:
        self._database = database
        self._clock = clock
        self._merchants = merchants
        self._cipher = Fernet(vault_key)
        self._refreshes: set[asyncio.Task[MerchantToken | None]] = set()

    async def provision(self, place: Place, resource: Resource, agent_id: str, scopes: list[str]) -> None:
        """Tries to get a merchant token for a user who has signed in. If that fails, the sign-in goes on."""
        asked_at = self._clock.now()
        try:
            issued = await self._merchants.provision(resource, place.login, agent_id, scopes)
        except (MerchantTrouble, MerchantRefused) as error:
            log.warning("no merchant token for resource %s: %s", resource.id, error)
            return
        self._store(place, issued, asked_at)

    async def redeem(self, place: Place, resource: Resource) -> MerchantToken:
        began = time.time()
        while True:
            row = self._row(place)
            if row is None:
                raise NoMerchantToken
            if row["rejected"]:
                raise ReauthenticationRequired
            if not self._is_near_expiry(row):
                return self._token(row)
            if row["refresh_token"] is None:
                raise ReauthenticationRequired
            if row["failed_at"] > began or time.time() > began + WAIT_S:
                return self._in_trouble(row)
            if self._take_lease(place, row):
                token = await self._refreshed(place, row, resource)
                if token is not None:
                    return token
            else:
                await asyncio.sleep(POLL_S)

    async def _refreshed(self, place: Place, row: Row, resource: Resource) -> MerchantToken | None:
        """The refreshed token; None if the entry is not what it was. A caller who leaves does not end the refresh."""
        task = asyncio.create_task(self._refresh(place, row, resource))
        self._refreshes.add(task)
        task.add_done_callback(self._refreshes.discard)
        return await asyncio.shield(task)

    async def _refresh(self, place: Place, row: Row, resource: Resource) -> MerchantToken | None:
        asked_at, refresh_token = self._clock.now(), self._decrypt(row["refresh_token"])
        try:
            issued = await self._merchants.refresh(resource, refresh_token)
        except MerchantRefused:
            self._update(place, row, "rejected = 1, refresh_token = NULL, lease_until = 0")
            return None
        except MerchantTrouble as error:
            log.warning("merchant token of resource %s could not be refreshed: %s", resource.id, error)
            self._update(place, row, "lease_until = 0, failed_at = ?", time.time())
            return None
        return self._store_refreshed(place, row, issued, asked_at)

    def _in_trouble(self, row: Row) -> MerchantToken:
        if row["expires_at"] > self._clock.now():
            return self._token(row)
        raise MerchantUnavailable

    def _row(self, place: Place) -> Row | None:
        return self._database.one(f"SELECT * FROM merchant_tokens WHERE {_AT_PLACE}", place.values())

    def _is_near_expiry(self, row: Row) -> bool:
        return row["refresh_from"] is not None and row["refresh_from"] <= self._clock.now()

    def _take_lease(self, place: Place, row: Row) -> bool:
        now = time.time()
        sql = f"UPDATE merchant_tokens SET lease_until = ? WHERE {_AT_PLACE} AND version = ? AND lease_until < ?"
        return self._database.change(sql, (now + LEASE_S, *place.values(), row["version"], now)) == 1

    def _update(self, place: Place, row: Row, assignments: str, *values: object) -> bool:
        """Changes an entry, unless it was replaced since it was read."""
        sql = f"UPDATE merchant_tokens SET {assignments} WHERE {_AT_PLACE} AND version = ?"
        return self._database.change(sql, (*values, *place.values(), row["version"])) == 1

    def _store(self, place: Place, issued: IssuedToken, asked_at: float) -> None:
        expires_at, refresh_from = _times(issued, asked_at)
        self._database.change(
            "INSERT OR REPLACE INTO merchant_tokens (project_id, sub, resource_id, login, version, access_token,"
            " refresh_token, expires_at, refresh_from, scopes) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                *place.values(),
                credentials.generate(),
                self._encrypt(issued.access_token),
                self._encrypt(issued.refresh_token),
                expires_at,
                refresh_from,
                json.dumps(issued.scopes),
            ),
        )

    def _store_refreshed(self, place: Place, row: Row, issued: IssuedToken, asked_at: float) -> MerchantToken | None:
        expires_at, refresh_from = _times(issued, asked_at)
        scopes = json.loads(row["scopes"]) if issued.scopes is None else issued.scopes
        stored = self._update(
            place,
            row,
            "version = ?, access_token = ?, refresh_token = ?, expires_at = ?, refresh_from = ?, scopes = ?, lease_until = 0",
            credentials.generate(),
            self._encrypt(issued.access_token),
            # A merchant that does not rotate refresh tokens leaves them out.
            self._encrypt(issued.refresh_token) or row["refresh_token"],
            expires_at,
            refresh_from,
            json.dumps(scopes),
        )
        return MerchantToken(issued.access_token, expires_at, scopes) if stored else None

    def _token(self, row: Row) -> MerchantToken:
        return MerchantToken(self._decrypt(row["access_token"]), row["expires_at"], json.loads(row["scopes"]))

    def _encrypt(self, token: str | None) -> bytes | None:
        return None if token is None else self._cipher.encrypt(token.encode())

    def _decrypt(self, stored: bytes) -> str:
        return self._cipher.decrypt(stored).decode()


def _times(issued: IssuedToken, asked_at: float) -> tuple[float | None, float | None]:
    """When a token expires, and from when on it is near that. It began to live no earlier than it was asked for."""
    if issued.lifetime_s is None:
        return None, None
    expires_at = asked_at + issued.lifetime_s
    return expires_at, expires_at - min(NEAR_EXPIRY_MAX_S, issued.lifetime_s * NEAR_EXPIRY_SHARE)
