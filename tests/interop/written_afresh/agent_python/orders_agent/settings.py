"""What the agent is told by its command line and its environment."""

from __future__ import annotations

import argparse
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from .errors import AgentError


@dataclass(frozen=True)
class Settings:
    service_url: str
    state_dir: Path
    callback_url: str
    tls_cert_file: str
    tls_key_file: str
    ca_file: str | None
    scopes: tuple[str, ...]
    browser: str | None
    redirect_timeout_s: float


def read(arguments: Sequence[str] | None = None, environment: Mapping[str, str] = os.environ) -> Settings:
    parser = argparse.ArgumentParser(prog="orders-agent", description="Reads your orders.")
    parser.add_argument("--service", metavar="URL", default=environment.get("GATEPROOF_SERVICE_URL"))
    parser.add_argument("--redirect-timeout", metavar="SECONDS", type=float, default=300.0, help="how long to wait for your approval")
    options = parser.parse_args(arguments)

    def required(name: str) -> str:
        if not environment.get(name):
            raise AgentError(f"{name} is not set")
        return environment[name]

    if not options.service or urlsplit(options.service).scheme != "https":
        raise AgentError("The service needs an https address.")
    return Settings(
        service_url=options.service.rstrip("/"),
        state_dir=Path(required("GATEPROOF_STATE_DIR")),
        callback_url=required("GATEPROOF_CALLBACK_URL"),
        tls_cert_file=required("GATEPROOF_TLS_CERT_FILE"),
        tls_key_file=required("GATEPROOF_TLS_KEY_FILE"),
        ca_file=environment.get("GATEPROOF_CA_FILE") or None,
        scopes=tuple(required("GATEPROOF_SCOPES").split()),
        browser=environment.get("BROWSER") or None,
        redirect_timeout_s=options.redirect_timeout,
    )
