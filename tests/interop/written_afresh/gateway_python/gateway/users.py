"""Users, by the identifiers that agents may see."""

from . import credentials
from .database import Database


class Users:
    def __init__(self, database: Database) -> None:
        self._database = database

    def subject(self, project_id: str, merchant_issuer: str, login: str) -> str:
        """The opaque identifier of a merchant's user in a Project: always the same, and nobody else's."""
        self._database.change(
            "INSERT OR IGNORE INTO users VALUES (?, ?, ?, ?)",
            (credentials.identifier("sub"), project_id, merchant_issuer, login),
        )
        row = self._database.one(
            "SELECT sub FROM users WHERE project_id = ? AND merchant = ? AND login = ?",
            (project_id, merchant_issuer, login),
        )
        assert row is not None, "it was inserted, or there before"
        return row["sub"]
