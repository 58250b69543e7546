"""Agents: their registration, their secrets, and whether a Project has approved them."""

import json
from dataclasses import dataclass
from urllib.parse import urlsplit

from . import credentials
from .database import Database

GRANT_TYPES = ("authorization_code", "refresh_token")
AUTH_METHOD = "client_secret_post"
MAX_NAME, MAX_URI, MAX_URIS = 200, 2000, 20


class RegistrationError(Exception):
    def __init__(self, code: str, description: str) -> None:
        super().__init__(description)
        self.code = code
        self.description = description


@dataclass(frozen=True)
class Agent:
    id: str
    name: str
    domain: str
    redirect_uris: tuple[str, ...]
    grant_types: tuple[str, ...]
    redemption_withheld: bool


class Agents:
    def __init__(self, database: Database) -> None:
        self._database = database

    def register(self, metadata: dict[str, object]) -> tuple[Agent, str]:
        """Stores a new agent. Returns it with its secret, which nobody can read again."""
        redirect_uris = _redirect_uris(metadata.get("redirect_uris"))
        domain = urlsplit(redirect_uris[0]).hostname or ""
        if metadata.get("token_endpoint_auth_method") not in (None, AUTH_METHOD):
            raise RegistrationError("invalid_client_metadata", f"token_endpoint_auth_method must be {AUTH_METHOD}")
        if metadata.get("response_types") not in (None, ["code"]):
            raise RegistrationError("invalid_client_metadata", 'response_types must be ["code"]')
        agent = Agent(
            id=credentials.identifier("agent"),
            name=_name(metadata.get("client_name"), domain),
            domain=domain,
            redirect_uris=tuple(redirect_uris),
            grant_types=_grant_types(metadata.get("grant_types")),
            redemption_withheld=False,
        )
        secret = credentials.generate()
        self._database.change(
            "INSERT INTO agents VALUES (?, ?, ?, ?, ?, ?, 0)",
            (
                agent.id,
                credentials.digest(secret),
                agent.name,
                agent.domain,
                json.dumps(agent.redirect_uris),
                json.dumps(agent.grant_types),
            ),
        )
        return agent, secret

    def find(self, client_id: str) -> Agent | None:
        row = self._database.one("SELECT * FROM agents WHERE id = ?", (client_id,))
        if row is None:
            return None
        return Agent(
            id=row["id"],
            name=row["name"],
            domain=row["domain"],
            redirect_uris=tuple(json.loads(row["redirect_uris"])),
            grant_types=tuple(json.loads(row["grant_types"])),
            redemption_withheld=bool(row["redemption_withheld"]),
        )

    def authenticate(self, client_id: str, secret: str) -> Agent | None:
        row = self._database.one("SELECT secret_digest FROM agents WHERE id = ?", (client_id,))
        if row is None or not credentials.matches(secret, row["secret_digest"]):
            return None
        return self.find(client_id)

    def withhold_redemption(self, client_id: str) -> bool:
        return self._database.change("UPDATE agents SET redemption_withheld = 1 WHERE id = ?", (client_id,)) == 1

    def admit(self, project_id: str, client_id: str, agent_policy: str) -> bool:
        """Whether the Project has approved the agent. An agent that is new to it meets the Project's policy."""
        self._database.change("INSERT OR IGNORE INTO approvals VALUES (?, ?, ?)", (project_id, client_id, agent_policy == "approve"))
        return self.is_approved(project_id, client_id)

    def is_approved(self, project_id: str, client_id: str) -> bool:
        sql = "SELECT approved FROM approvals WHERE project_id = ? AND client_id = ?"
        row = self._database.one(sql, (project_id, client_id))
        return row is not None and bool(row["approved"])

    def approve(self, project_id: str, client_id: str) -> None:
        self._database.change("INSERT OR REPLACE INTO approvals VALUES (?, ?, 1)", (project_id, client_id))


def _redirect_uris(value: object) -> list[str]:
    if not isinstance(value, list) or not 0 < len(value) <= MAX_URIS:
        raise RegistrationError("invalid_redirect_uri", "redirect_uris must be a list with at least one URI")
    for uri in value:
        if not _is_https_uri(uri):
            raise RegistrationError("invalid_redirect_uri", "every redirect URI must be an absolute https URI")
    return value


def _is_https_uri(value: object) -> bool:
    if not isinstance(value, str) or len(value) > MAX_URI:
        return False
    if any(not "!" <= character <= "~" or character in '"<>\\^`{|}#' for character in value):
        return False
    try:
        parts = urlsplit(value)
        _ = parts.port
    except ValueError:
        return False
    return parts.scheme == "https" and bool(parts.hostname) and parts.username is None and "@" not in parts.netloc


def _grant_types(value: object) -> tuple[str, ...]:
    if value is None:
        return GRANT_TYPES
    if not isinstance(value, list) or "authorization_code" not in value or any(v not in GRANT_TYPES for v in value):
        raise RegistrationError("invalid_client_metadata", f"grant_types must be among {', '.join(GRANT_TYPES)}")
    return tuple(dict.fromkeys(value))


def _name(value: object, default: str) -> str:
    if value is None:
        return default
    if not isinstance(value, str) or not value.strip() or len(value) > MAX_NAME:
        raise RegistrationError("invalid_client_metadata", f"client_name must have 1 to {MAX_NAME} characters")
    return value
