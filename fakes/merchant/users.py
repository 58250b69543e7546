"""The fake merchant's default users."""

from __future__ import annotations

from dataclasses import dataclass, field

ALICE_PASSWORD = "alice-likes-long-walks"  # noqa: S105 - a published test password
BOB_PASSWORD = "bob-builds-small-boats"  # noqa: S105 - a published test password


@dataclass(frozen=True, kw_only=True, slots=True)
class User:
    """A user with an account at the merchant."""

    name: str
    login: str
    password: str = field(repr=False)


DEFAULT_USERS = (
    User(name="alice", login="alice@merchant.example", password=ALICE_PASSWORD),
    User(name="bob", login="bob@merchant.example", password=BOB_PASSWORD),
)
