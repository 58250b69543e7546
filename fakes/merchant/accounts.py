"""Users, their passwords and their orders."""

from __future__ import annotations

import hmac
import random
from collections.abc import Iterable

from gateproof.fakes.merchant.users import User

ITEMS = ("kettle", "lamp", "notebook", "umbrella", "teapot", "scarf", "compass", "hammock")
ID_ALPHABET = "abcdefghijklmnopqrstuvwxyz0123456789"


class Accounts:
    """All accounts. Order IDs are random, so an order ID in an answer proves which account was read."""

    def __init__(self, users: Iterable[User], *, entropy: random.Random) -> None:
        self._entropy = entropy
        self._users: dict[str, User] = {}
        self._orders: dict[str, list[dict[str, str]]] = {}
        for user in users:
            self.add(user)

    def add(self, user: User) -> None:
        """Adds an account, or changes the name and password of an existing one, which keeps its orders."""
        self._users[user.login] = user
        self._orders.setdefault(user.login, [self._order(), self._order(), self._order()])

    def find(self, login: str) -> User | None:
        return self._users.get(login)

    def signed_in(self, login: str, password: str) -> User | None:
        user = self._users.get(login)
        given = password.encode(errors="surrogateescape")
        return user if user and hmac.compare_digest(user.password.encode(), given) else None

    def orders(self, login: str) -> list[dict[str, str]]:
        return self._orders.get(login, [])

    def _order(self) -> dict[str, str]:
        return {
            "id": "ord_" + "".join(self._entropy.choices(ID_ALPHABET, k=26)),
            "item": self._entropy.choice(ITEMS),
        }
