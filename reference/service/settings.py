"""The settings of the service, from environment variables."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from gateproof.reference.serving import NotServed, loopback_url


@dataclass(frozen=True, kw_only=True, slots=True)
class Settings:
    """Addresses and credentials; the secret is not in the `repr`."""

    base_url: str
    authorization_server: str
    indicator: str
    proxy_client_id: str
    proxy_client_secret: str = field(repr=False)
    merchant_api_url: str
    service_url: str
    # Optional: redemption also checks the Project of a token.
    project_id: str | None = None
    ca_file: str | None = None
    tls_cert_file: Path | None = None
    tls_key_file: Path | None = None


def read_settings(environ: Mapping[str, str]) -> Settings:
    """Reads the settings; an error names all missing variables."""
    needed = {
        "base_url": "GATEPROOF_BASE_URL",
        "authorization_server": "GATEPROOF_AUTHORIZATION_SERVER",
        "indicator": "GATEPROOF_RESOURCE_INDICATOR",
        "proxy_client_id": "GATEPROOF_PROXY_CLIENT_ID",
        "proxy_client_secret": "GATEPROOF_PROXY_CLIENT_SECRET",
        "merchant_api_url": "GATEPROOF_MERCHANT_API_URL",
        "service_url": "GATEPROOF_SERVICE_URL",
    }
    missing = [name for name in needed.values() if not environ.get(name)]
    if missing:
        raise NotServed(f"not set: {', '.join(missing)}")
    values = {field_name: environ[name] for field_name, name in needed.items()}
    cert, key = environ.get("GATEPROOF_TLS_CERT_FILE"), environ.get("GATEPROOF_TLS_KEY_FILE")
    return Settings(
        **values | {"service_url": loopback_url(values["service_url"])},
        project_id=environ.get("GATEPROOF_PROJECT_ID") or None,
        ca_file=environ.get("GATEPROOF_CA_FILE") or None,
        tls_cert_file=Path(cert) if cert else None,
        tls_key_file=Path(key) if key else None,
    )
