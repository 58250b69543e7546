"""The command line of the service, which is configured by environment variables."""

from __future__ import annotations

import argparse
import os
import ssl
import sys
import time
from collections.abc import Sequence
from functools import partial

import httpx

from gateproof.reference.service.app import create_app
from gateproof.reference.service.backend import Backend
from gateproof.reference.service.policies import Policies
from gateproof.reference.service.settings import Settings, read_settings
from gateproof.reference.serving import NotServed, Origin, run, server_tls


def main(argv: Sequence[str] | None = None, policies: Policies | None = None) -> int:
    """Serves; the exit code is 0 after a stop, 2 for a wrong environment, 98 for a taken port."""
    parser = argparse.ArgumentParser(prog="python -m gateproof.reference.service", description=__doc__)
    parser.add_argument("--exit-with-stdin", action="store_true", help="stop when stdin ends")
    given = parser.parse_args(argv)
    try:
        settings = read_settings(os.environ)
        policies = policies or Policies()
        client = _client(settings, policies)
        app = create_app(Backend(settings, client, time.time, policies), partial(print, flush=True))
        cert, key = settings.tls_cert_file, settings.tls_key_file
        tls = server_tls(cert, key, oldest=policies.oldest_tls) if cert and key else None
        origin = Origin(app=app, url=settings.service_url)
        run(
            [origin],
            tls=tls,
            exit_with_stdin=given.exit_with_stdin,
            on_exit=client.aclose,
            listening=policies.listen,
        )
    except NotServed as error:
        print(f"reference service: {error}", file=sys.stderr)
        return error.exit_code
    return 0


def _client(settings: Settings, policies: Policies) -> httpx.AsyncClient:
    try:
        trust = ssl.create_default_context(cafile=settings.ca_file)
    except (OSError, ssl.SSLError):
        raise NotServed("GATEPROOF_CA_FILE: expected a readable file of PEM certificates") from None
    timeout = max(policies.patience.answer_s, policies.patience_for_keys.answer_s)
    return httpx.AsyncClient(transport=policies.transport(trust), follow_redirects=False, timeout=timeout)
