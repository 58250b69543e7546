"""SQLite, the one thing that workers share.

Statements are short and run inside the event loop. Nothing may be awaited inside a transaction.
"""

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

_BUSY_S = 10

_TABLES = """
CREATE TABLE IF NOT EXISTS settings (name TEXT PRIMARY KEY, value TEXT NOT NULL);

CREATE TABLE IF NOT EXISTS core_keys (
    kid TEXT PRIMARY KEY, private_key TEXT NOT NULL, created_at REAL NOT NULL, retired_at REAL);

CREATE TABLE IF NOT EXISTS projects (
    id TEXT PRIMARY KEY, name TEXT NOT NULL, agent_policy TEXT NOT NULL DEFAULT 'approve'
        CHECK (agent_policy IN ('approve', 'hold')));

CREATE TABLE IF NOT EXISTS resources (
    id TEXT PRIMARY KEY, project_id TEXT NOT NULL REFERENCES projects, indicator TEXT NOT NULL,
    scopes TEXT NOT NULL, merchant TEXT NOT NULL, private_key TEXT NOT NULL, UNIQUE (project_id, indicator));

CREATE TABLE IF NOT EXISTS proxy_clients (
    id TEXT PRIMARY KEY, project_id TEXT NOT NULL REFERENCES projects, secret_digest TEXT NOT NULL,
    revoked INTEGER NOT NULL DEFAULT 0);

CREATE TABLE IF NOT EXISTS proxy_tokens (
    digest TEXT PRIMARY KEY, client_id TEXT NOT NULL REFERENCES proxy_clients, expires_at REAL NOT NULL);

CREATE TABLE IF NOT EXISTS agents (
    id TEXT PRIMARY KEY, secret_digest TEXT NOT NULL, name TEXT NOT NULL, domain TEXT NOT NULL,
    redirect_uris TEXT NOT NULL, grant_types TEXT NOT NULL, redemption_withheld INTEGER NOT NULL DEFAULT 0);

CREATE TABLE IF NOT EXISTS approvals (
    project_id TEXT NOT NULL REFERENCES projects, client_id TEXT NOT NULL REFERENCES agents,
    approved INTEGER NOT NULL, PRIMARY KEY (project_id, client_id));

CREATE TABLE IF NOT EXISTS users (
    sub TEXT PRIMARY KEY, project_id TEXT NOT NULL REFERENCES projects, merchant TEXT NOT NULL, login TEXT NOT NULL,
    UNIQUE (project_id, merchant, login));

CREATE TABLE IF NOT EXISTS authorizations (
    id TEXT PRIMARY KEY, resource_id TEXT NOT NULL REFERENCES resources, client_id TEXT NOT NULL REFERENCES agents,
    redirect_uri TEXT NOT NULL, state TEXT NOT NULL, scope TEXT NOT NULL, code_challenge TEXT NOT NULL, nonce TEXT,
    browser_digest TEXT NOT NULL, merchant_state_digest TEXT NOT NULL UNIQUE, merchant_nonce TEXT NOT NULL,
    merchant_verifier TEXT NOT NULL, stage TEXT NOT NULL CHECK (stage IN ('sign-in', 'checking', 'approval', 'over')),
    form_digest TEXT, sub TEXT REFERENCES users, login TEXT, amr TEXT, auth_time INTEGER, expires_at REAL NOT NULL);

CREATE TABLE IF NOT EXISTS grants (
    id TEXT PRIMARY KEY, resource_id TEXT NOT NULL REFERENCES resources, client_id TEXT NOT NULL REFERENCES agents,
    sub TEXT NOT NULL REFERENCES users, login TEXT NOT NULL, scope TEXT NOT NULL, amr TEXT NOT NULL, nonce TEXT,
    auth_time INTEGER NOT NULL, revoked INTEGER NOT NULL DEFAULT 0);

CREATE TABLE IF NOT EXISTS codes (
    digest TEXT PRIMARY KEY, grant_id TEXT NOT NULL REFERENCES grants, redirect_uri TEXT NOT NULL,
    code_challenge TEXT NOT NULL, expires_at REAL NOT NULL, used INTEGER NOT NULL DEFAULT 0);

CREATE TABLE IF NOT EXISTS refresh_tokens (
    digest TEXT PRIMARY KEY, grant_id TEXT NOT NULL REFERENCES grants, expires_at REAL NOT NULL,
    used INTEGER NOT NULL DEFAULT 0);

CREATE TABLE IF NOT EXISTS merchant_tokens (
    project_id TEXT NOT NULL, sub TEXT NOT NULL, resource_id TEXT NOT NULL, login TEXT NOT NULL,
    version TEXT NOT NULL, access_token BLOB NOT NULL, refresh_token BLOB, expires_at REAL, refresh_from REAL,
    scopes TEXT, rejected INTEGER NOT NULL DEFAULT 0, lease_until REAL NOT NULL DEFAULT 0,
    failed_at REAL NOT NULL DEFAULT 0, PRIMARY KEY (project_id, sub, resource_id, login));
"""


class Database:
    def __init__(self, path: Path) -> None:
        self._connection = sqlite3.connect(path, timeout=_BUSY_S, isolation_level=None)
        self._connection.row_factory = sqlite3.Row
        for pragma in ("journal_mode = WAL", "synchronous = NORMAL", "foreign_keys = ON"):
            self._connection.execute(f"PRAGMA {pragma}")

    def create_tables(self) -> None:
        self._connection.executescript(_TABLES)

    def close(self) -> None:
        self._connection.close()

    def one(self, sql: str, values: Sequence[object] = ()) -> sqlite3.Row | None:
        return self._connection.execute(sql, values).fetchone()

    def all(self, sql: str, values: Sequence[object] = ()) -> list[sqlite3.Row]:
        return self._connection.execute(sql, values).fetchall()

    def change(self, sql: str, values: Sequence[object] = ()) -> int:
        """Executes a statement, and says how many rows it changed."""
        return self._connection.execute(sql, values).rowcount

    @contextmanager
    def transaction(self) -> Iterator[None]:
        self._connection.execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            self._connection.execute("ROLLBACK")
            raise
        self._connection.execute("COMMIT")

    def setting(self, name: str) -> str | None:
        row = self.one("SELECT value FROM settings WHERE name = ?", (name,))
        return row["value"] if row else None

    def set_setting(self, name: str, value: str) -> None:
        self.change("INSERT OR REPLACE INTO settings VALUES (?, ?)", (name, value))
