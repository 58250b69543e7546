"""The settings of the agent, from environment variables."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from gateproof.reference.agent.wire import Failed


@dataclass(frozen=True, kw_only=True, slots=True)
class Settings:
    """The service, the folder for this install's state, and the redirect URI."""

    service_url: str
    state_dir: Path
    callback_url: str
    scopes: tuple[str, ...]
    tls_cert_file: str
    tls_key_file: str
    ca_file: str | None = None
    browser: str | None = None


def read_settings(environ: Mapping[str, str]) -> Settings:
    """Reads the settings; an error names all missing variables."""
    needed = ("SERVICE_URL", "STATE_DIR", "CALLBACK_URL", "SCOPES", "TLS_CERT_FILE", "TLS_KEY_FILE")
    told = {name: environ.get(f"GATEPROOF_{name}", "") for name in needed}
    missing = [f"GATEPROOF_{name}" for name, value in told.items() if not value]
    if missing:
        raise Failed(f"not set: {', '.join(missing)}")
    return Settings(
        service_url=told["SERVICE_URL"].rstrip("/"),
        state_dir=Path(told["STATE_DIR"]),
        callback_url=told["CALLBACK_URL"],
        scopes=tuple(told["SCOPES"].split()),
        tls_cert_file=told["TLS_CERT_FILE"],
        tls_key_file=told["TLS_KEY_FILE"],
        ca_file=environ.get("GATEPROOF_CA_FILE") or None,
        browser=environ.get("BROWSER") or None,
    )
