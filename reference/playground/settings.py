"""The settings of the playground, from environment variables: addresses and stages."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from gateproof.reference.serving import NotServed, loopback_url

USUAL = "usual"


@dataclass(frozen=True, kw_only=True, slots=True)
class Stage:
    """A Resource and a Proxy client for the playground's service."""

    name: str
    resource_id: str
    indicator: str
    scopes: tuple[str, ...]
    proxy_client_id: str = field(repr=False)
    proxy_client_secret: str = field(repr=False)


@dataclass(frozen=True, kw_only=True, slots=True)
class Settings:
    """Addresses, certificates and stages; in the stage `usual` everything works."""

    playground_url: str
    base_url: str
    merchant_api_url: str
    stages: Mapping[str, Stage]
    ca_file: str | None = None
    tls_cert_file: Path | None = None
    tls_key_file: Path | None = None

    @property
    def callback_url(self) -> str:
        return f"{self.playground_url}/callback"

    def authorization_server(self, stage: Stage) -> str:
        return f"{self.base_url}/{stage.resource_id}"


def read_settings(environ: Mapping[str, str]) -> Settings:
    """Reads the settings; an error names all missing variables."""
    needed = {
        "playground_url": "GATEPROOF_PLAYGROUND_URL",
        "base_url": "GATEPROOF_BASE_URL",
        "merchant_api_url": "GATEPROOF_MERCHANT_API_URL",
        "stages": "GATEPROOF_PLAYGROUND_STAGES",
    }
    missing = [name for name in needed.values() if not environ.get(name)]
    if missing:
        raise NotServed(f"not set: {', '.join(missing)}")
    cert, key = environ.get("GATEPROOF_TLS_CERT_FILE"), environ.get("GATEPROOF_TLS_KEY_FILE")
    return Settings(
        playground_url=_own_origin(environ[needed["playground_url"]]),
        base_url=loopback_url(environ[needed["base_url"]]),
        merchant_api_url=environ[needed["merchant_api_url"]],
        stages=_stages(environ[needed["stages"]]),
        ca_file=environ.get("GATEPROOF_CA_FILE") or None,
        tls_cert_file=Path(cert) if cert else None,
        tls_key_file=Path(key) if key else None,
    )


def _own_origin(text: str) -> str:
    url = loopback_url(text)
    if not url.startswith("https://") or url.count("/") > 2:
        raise NotServed("the playground needs its own https origin, which is its agent's redirect URI")
    return url


def _stages(text: str) -> dict[str, Stage]:
    try:
        given: list[dict[str, Any]] = json.loads(text)
        stages = [Stage(**{**members, "scopes": tuple(members["scopes"])}) for members in given]
    except (ValueError, TypeError, KeyError):
        raise NotServed("GATEPROOF_PLAYGROUND_STAGES: expected a JSON array of stages") from None
    found = {stage.name: stage for stage in stages}
    if USUAL not in found:
        raise NotServed(f"GATEPROOF_PLAYGROUND_STAGES: expected a stage with the name {USUAL}")
    return found
