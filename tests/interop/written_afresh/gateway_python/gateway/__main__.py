"""Command line: python -m gateway --base-url URL --core-url URL [--control-url URL]"""

import argparse
import os
import tempfile
from pathlib import Path

from cryptography.fernet import Fernet

from . import launcher
from .settings import Settings


def main() -> int:
    parser = argparse.ArgumentParser(prog="gateway", description="Agent authorization gateway.")
    parser.add_argument("--base-url", required=True, help="public address of the gateway API, without a final slash")
    parser.add_argument("--core-url", required=True, help="address of the core host, which is the issuer as well")
    parser.add_argument("--control-url", help="where tests set the gateway up; not for production")
    parser.add_argument("--tls", type=Path, default=Path("tls"), help="folder of the certificate, made if missing")
    parser.add_argument("--data", type=Path, help="folder of the database (default: a temporary one)")
    parser.add_argument("--workers", type=int, default=2)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="gateway-") as temporary:
        return launcher.run(
            Settings(
                base_url=arguments.base_url,
                core_url=arguments.core_url,
                control_url=arguments.control_url,
                data=arguments.data or Path(temporary),
                tls=arguments.tls,
                workers=arguments.workers,
                vault_key=os.environ.get("GATEWAY_VAULT_KEY") or Fernet.generate_key().decode(),
            )
        )


if __name__ == "__main__":
    raise SystemExit(main())
