"""Projects, their Resources and their Proxy clients."""

import json
from dataclasses import dataclass
from sqlite3 import Row

from joserfc.jwk import ECKey

from . import credentials, keys
from .clock import Clock
from .database import Database

PROXY_TOKEN_LIFETIME_S = 3600


@dataclass(frozen=True)
class Merchant:
    issuer: str
    authorization_endpoint: str
    token_endpoint: str
    jwks_uri: str
    client_id: str
    ca_file: str | None


@dataclass(frozen=True)
class Resource:
    id: str
    project_id: str
    indicator: str
    scopes: tuple[str, ...]
    merchant: Merchant
    key: ECKey


@dataclass(frozen=True)
class ProxyClient:
    id: str
    project_id: str


class Projects:
    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    def create(self, name: str, agent_policy: str = "approve") -> str:
        project_id = credentials.identifier("prj")
        self._database.change("INSERT INTO projects VALUES (?, ?, ?)", (project_id, name, agent_policy))
        return project_id

    def agent_policy(self, project_id: str) -> str:
        row = self._database.one("SELECT agent_policy FROM projects WHERE id = ?", (project_id,))
        assert row is not None, "a Resource's Project exists"
        return row["agent_policy"]

    def set_agent_policy(self, project_id: str, agent_policy: str) -> bool:
        sql = "UPDATE projects SET agent_policy = ? WHERE id = ?"
        return self._database.change(sql, (agent_policy, project_id)) == 1

    def create_resource(self, project_id: str, indicator: str, scopes: list[str], merchant: Merchant) -> str:
        resource_id = credentials.identifier("res")
        self._database.change(
            "INSERT INTO resources VALUES (?, ?, ?, ?, ?, ?)",
            (
                resource_id,
                project_id,
                indicator,
                json.dumps(scopes),
                json.dumps(vars(merchant)),
                keys.dump(keys.generate()),
            ),
        )
        return resource_id

    def resource(self, resource_id: str) -> Resource | None:
        return self._resource(self._database.one("SELECT * FROM resources WHERE id = ?", (resource_id,)))

    def resource_by_indicator(self, project_id: str, indicator: str) -> Resource | None:
        sql = "SELECT * FROM resources WHERE project_id = ? AND indicator = ?"
        return self._resource(self._database.one(sql, (project_id, indicator)))

    def _resource(self, row: Row | None) -> Resource | None:
        if row is None:
            return None
        return Resource(
            id=row["id"],
            project_id=row["project_id"],
            indicator=row["indicator"],
            scopes=tuple(json.loads(row["scopes"])),
            merchant=Merchant(**json.loads(row["merchant"])),
            key=keys.load(row["private_key"]),
        )

    def create_proxy_client(self, project_id: str) -> tuple[str, str]:
        client_id, secret = credentials.identifier("proxy"), credentials.generate()
        self._database.change(
            "INSERT INTO proxy_clients (id, project_id, secret_digest) VALUES (?, ?, ?)",
            (client_id, project_id, credentials.digest(secret)),
        )
        return client_id, secret

    def revoke_proxy_client(self, project_id: str, client_id: str) -> bool:
        sql = "UPDATE proxy_clients SET revoked = 1 WHERE project_id = ? AND id = ?"
        return self._database.change(sql, (project_id, client_id)) == 1

    def authenticate_proxy_client(self, client_id: str, secret: str) -> ProxyClient | None:
        row = self._database.one("SELECT * FROM proxy_clients WHERE id = ? AND NOT revoked", (client_id,))
        if row is None or not credentials.matches(secret, row["secret_digest"]):
            return None
        return ProxyClient(row["id"], row["project_id"])

    def issue_proxy_token(self, client: ProxyClient) -> str:
        token, expires_at = credentials.generate(), self._clock.now() + PROXY_TOKEN_LIFETIME_S
        sql = "INSERT INTO proxy_tokens VALUES (?, ?, ?)"
        self._database.change(sql, (credentials.digest(token), client.id, expires_at))
        return token

    def proxy_client_of(self, proxy_token: str) -> ProxyClient | None:
        """Whose token it is; nobody's once it has expired or its client was revoked."""
        row = self._database.one(
            "SELECT client.id, client.project_id FROM proxy_tokens AS token"
            " JOIN proxy_clients AS client ON client.id = token.client_id"
            " WHERE token.digest = ? AND token.expires_at > ? AND NOT client.revoked",
            (credentials.digest(proxy_token), self._clock.now()),
        )
        return ProxyClient(row["id"], row["project_id"]) if row else None
