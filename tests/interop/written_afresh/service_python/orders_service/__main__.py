"""Run the service: python -m orders_service"""

from __future__ import annotations

import sys
from urllib.parse import urlsplit

import uvicorn

from . import logs, server, settings


def main() -> int:
    logs.configure()
    try:
        config = settings.from_environment()
    except settings.MissingSetting as error:
        print(error, file=sys.stderr)
        return 2
    app = server.build(config).http_app(path=config.mcp_path)
    address = urlsplit(config.service_url)
    uvicorn.run(
        app,
        host=address.hostname or "127.0.0.1",
        port=address.port or 443,
        ssl_certfile=config.tls_cert_file,
        ssl_keyfile=config.tls_key_file,
        log_config=None,
        access_log=False,  # its lines have the query, in which strangers may send tokens
        server_header=False,
        timeout_graceful_shutdown=5,
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
