"""What an installation of the gateway is told at start."""

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Settings:
    base_url: str
    core_url: str
    control_url: str | None
    data: Path
    tls: Path
    workers: int
    vault_key: str

    @property
    def issuer(self) -> str:
        return self.core_url

    @property
    def database(self) -> Path:
        return self.data / "gateway.sqlite3"

    @property
    def log(self) -> Path:
        return self.data / "gateway.log"

    def authorization_server(self, resource_id: str) -> str:
        return f"{self.base_url}/{resource_id}"

    def resource_jwks_uri(self, resource_id: str) -> str:
        return f"{self.base_url}/{resource_id}/jwks"

    def callback(self, resource_id: str) -> str:
        return f"{self.base_url}/{resource_id}/oauth2/callback"
