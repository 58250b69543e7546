"""The command line of the playground, which is configured by environment variables."""

from __future__ import annotations

import argparse
import os
import ssl
import sys
from collections.abc import Sequence
from http.cookiejar import CookieJar, DefaultCookiePolicy

import httpx

from gateproof.reference.playground.app import playground_app
from gateproof.reference.playground.settings import Settings, read_settings
from gateproof.reference.playground.wire import Wire
from gateproof.reference.serving import NotServed, Origin, run, server_tls


def main(argv: Sequence[str] | None = None) -> int:
    """Serves; the exit code is 0 after a stop, 2 for a wrong environment, 98 for a taken port."""
    parser = argparse.ArgumentParser(prog="python -m gateproof.reference.playground", description=__doc__)
    parser.add_argument("--exit-with-stdin", action="store_true", help="stop when stdin ends")
    given = parser.parse_args(argv)
    try:
        settings = read_settings(os.environ)
        if settings.tls_cert_file is None or settings.tls_key_file is None:
            raise NotServed("not set: GATEPROOF_TLS_CERT_FILE, GATEPROOF_TLS_KEY_FILE")
        client = _client(settings)
        run(
            [Origin(app=playground_app(settings, Wire(client)), url=settings.playground_url)],
            tls=server_tls(settings.tls_cert_file, settings.tls_key_file),
            exit_with_stdin=given.exit_with_stdin,
            on_exit=client.aclose,
        )
    except NotServed as error:
        print(f"reference playground: {error}", file=sys.stderr)
        return error.exit_code
    return 0


def _client(settings: Settings) -> httpx.AsyncClient:
    """A client without cookies."""
    try:
        trust = ssl.create_default_context(cafile=settings.ca_file)
    except (OSError, ssl.SSLError):
        raise NotServed("GATEPROOF_CA_FILE: expected a readable file of PEM certificates") from None
    no_cookies = CookieJar(DefaultCookiePolicy(allowed_domains=[]))
    return httpx.AsyncClient(verify=trust, trust_env=False, follow_redirects=False, cookies=no_cookies)
