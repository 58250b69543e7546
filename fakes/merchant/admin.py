"""Client of the fake merchant's admin API."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, TypeVar

from gateproof.fakes.merchant.admin_connections import AdminConnections
from gateproof.fakes.merchant.ledger import PAGE
from gateproof.fakes.merchant.records import JournalEntry, Kind, MintedToken, TokenState
from gateproof.fakes.merchant.script import Answer

TIMEOUT_S = 30.0
PAGES = 1_000
Record = TypeVar("Record", MintedToken, JournalEntry)


class MerchantAdminError(RuntimeError):
    """The fake merchant refused or failed an action; the text has its answer."""


class MerchantAdmin:
    """Controls one fake merchant. A pickle has only URL and token; a worker opens its own connection."""

    def __init__(self, url: str, token: str) -> None:
        self.url = url
        self._token = token
        self._connections = AdminConnections(url, token, timeout_s=TIMEOUT_S)

    def __repr__(self) -> str:
        return f"MerchantAdmin({self.url!r})"

    def __reduce__(self) -> tuple[type[MerchantAdmin], tuple[str, str]]:
        return type(self), (self.url, self._token)

    def close(self) -> None:
        self._connections.close()

    def register_client(
        self,
        client_id: str,
        jwks_uri: str | None = None,
        indicator: str | None = None,
        token_endpoint: str | None = None,
    ) -> None:
        """Registers a client. Its jwks_uri can be set later; until then its signatures are rejected."""
        self._call(
            "register_client",
            client_id=client_id,
            jwks_uri=jwks_uri,
            indicator=indicator,
            token_endpoint=token_endpoint,
        )

    def set_jwks_uri(self, client_id: str, uri: str) -> None:
        self._call("set_jwks_uri", client_id=client_id, jwks_uri=uri)

    def trust(self, base_url: str) -> None:
        """Accepts every Resource of this gateway as a client; its ID is the authorization server's URL."""
        self._call("trust", base_url=base_url)

    def script(self, client_id: str, *, login: str | None = None, **fields: Any) -> None:
        """Replaces the script of a client, or of one login at it. The fields are those of `Script`.

        An outcome is a name (`"reject"`), an `Answer`, or an object (`{"outcome": "hang", "seconds": 3}`).
        """
        written = {name: _written(value) for name, value in fields.items()}
        self._call("script", client_id=client_id, login=login, script=written)

    def release(self, gate: str) -> int:
        """Opens a gate permanently; returns how many calls have arrived at it."""
        return int(self._call("release", gate=gate))

    def arrived(self, gate: str) -> int:
        return int(self._call("arrived", gate=gate))

    def open_listener(self) -> str:
        """Opens one more address of the token endpoint, for use by one Resource; returns its URL."""
        return str(self._call("open_listener"))

    def switch_listener(self, listener: str, state: str) -> int:
        """Changes the state of a listener; returns the number of connections since the last change.

        The states are "open", "shut", "plain" (HTTP in place of TLS), and the names of wrong certificates.
        """
        return int(self._call("switch_listener", listener=listener, state=state))

    def connections(self, listener: str) -> int:
        """The number of connections since the last change of state."""
        return int(self._call("connections", listener=listener))

    def close_listener(self, listener: str) -> None:
        self._call("close_listener", listener=listener)

    def lie(self, **told: Any) -> None:
        """Replaces all lies by these. The fields are those of `Lies`."""
        self._call("lie", **told)

    def open_merchant(self, seed: int) -> tuple[MerchantAdmin, dict[str, str]]:
        """Opens one more merchant, without users; returns its admin API and its endpoints."""
        opened = self._call("open_merchant", seed=seed)
        return MerchantAdmin(opened["admin_url"], self._token), dict(opened["endpoints"])

    def close_merchant(self, other: MerchantAdmin) -> None:
        """Closes a merchant that was opened here."""
        other.close()
        self._call("close_merchant", admin_url=other.url)

    def journal(self, client_id: str | None = None, after: int = 0) -> list[JournalEntry]:
        """The requests after the entry with that ordinal, oldest first."""
        return self._pages("journal", "entries", JournalEntry.from_json, after=after, client_id=client_id)

    def tokens(self, kind: Kind | None = None, after: int = 0) -> list[MintedToken]:
        """The secrets, or those of one kind, minted after the one with that ordinal, oldest first."""
        return self._pages("tokens", "tokens", MintedToken.from_json, after=after, kind=kind)

    def last_minted(self) -> int:
        """The ordinal of the newest secret; 0 if there is none."""
        return int(self._call("last_minted"))

    def last_received(self) -> int:
        """The ordinal of the newest journal entry; 0 if there is none."""
        return int(self._call("last_received"))

    def lookup(self, token: str) -> TokenState | None:
        """The state of a token; None if the merchant did not mint it."""
        found = self._call("lookup", token=token)
        return None if found is None else TokenState.from_json(found)

    def orders(self, login: str) -> list[dict[str, str]]:
        return list(self._call("orders", login=login))

    def fired(self, client_id: str | None = None) -> dict[str, int]:
        """How often each outcome was applied."""
        return dict(self._call("fired", client_id=client_id))

    def dropped(self) -> dict[str, int]:
        """How many journal entries and tokens were discarded because of the limit."""
        return dict(self._call("dropped"))

    def add_user(self, name: str, login: str, password: str) -> None:
        self._call("add_user", name=name, login=login, password=password)

    def set_clock_offset(self, seconds: float) -> None:
        """Sets how many seconds the target's clock is ahead of real time."""
        self._call("set_clock_offset", seconds=seconds)

    def _pages(
        self,
        action: str,
        name: str,
        read: Callable[[dict[str, Any]], Record],
        *,
        after: int,
        **arguments: Any,
    ) -> list[Record]:
        found: list[Record] = []
        for _ in range(PAGES):
            page = self._call(action, after=after, **arguments)
            if page["lost"]:
                raise MerchantAdminError(f"{action}: {page['lost']} entries were discarded; read more often")
            found += [read(raw) for raw in page[name]]
            if len(page[name]) < PAGE:
                return found
            after = found[-1].ordinal
        raise MerchantAdminError(f"{action}: more than {PAGES} pages")

    def _call(self, action: str, **arguments: Any) -> Any:
        try:
            status, answer = self._connections.post(f"/{action}", json.dumps(arguments).encode())
        except OSError as error:
            raise MerchantAdminError(f"{action}: the fake merchant does not answer: {error}") from None
        if status != 200:
            raise MerchantAdminError(f"{action}: {status}: {_complaint(answer)}")
        return json.loads(answer)


def _complaint(body: bytes) -> str:
    try:
        return str(json.loads(body)["error"])
    except (ValueError, TypeError, KeyError):
        return "no reason given"


def _written(value: Any) -> Any:
    if isinstance(value, Answer):
        return value.to_json()
    if isinstance(value, (list, tuple)):
        return [_written(item) for item in value]
    return value
