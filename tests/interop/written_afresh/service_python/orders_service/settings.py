"""What the service is told by its environment."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field


class MissingSetting(Exception):
    """A setting that the service cannot do without is missing or empty."""


@dataclass(frozen=True)
class Settings:
    service_url: str
    authorization_server: str
    base_url: str
    core_url: str
    resource_indicator: str
    proxy_client_id: str
    proxy_client_secret: str = field(repr=False)
    merchant_api_url: str
    tls_cert_file: str | None = None
    tls_key_file: str | None = None
    ca_file: str | None = None
    mcp_path: str = "/mcp"

    @property
    def redemption_url(self) -> str:
        return f"{self.base_url}/api/credentials/token"

    @property
    def token_url(self) -> str:
        return f"{self.core_url}/oauth2/token"

    @property
    def orders_url(self) -> str:
        return f"{self.merchant_api_url}/orders"


def from_environment(environment: Mapping[str, str] = os.environ) -> Settings:
    def required(name: str) -> str:
        value = environment.get(name, "")
        if not value:
            raise MissingSetting(f"{name} is not set")
        return value

    return Settings(
        service_url=required("GATEPROOF_SERVICE_URL").rstrip("/"),
        authorization_server=required("GATEPROOF_AUTHORIZATION_SERVER").rstrip("/"),
        base_url=required("GATEPROOF_BASE_URL").rstrip("/"),
        core_url=required("GATEPROOF_CORE_URL").rstrip("/"),
        # The indicator is compared and sent exactly as it is: no stripping here.
        resource_indicator=required("GATEPROOF_RESOURCE_INDICATOR"),
        proxy_client_id=required("GATEPROOF_PROXY_CLIENT_ID"),
        proxy_client_secret=required("GATEPROOF_PROXY_CLIENT_SECRET"),
        merchant_api_url=required("GATEPROOF_MERCHANT_API_URL").rstrip("/"),
        tls_cert_file=environment.get("GATEPROOF_TLS_CERT_FILE") or None,
        tls_key_file=environment.get("GATEPROOF_TLS_KEY_FILE") or None,
        ca_file=environment.get("GATEPROOF_CA_FILE") or None,
    )
