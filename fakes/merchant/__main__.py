"""`python -m gateproof.fakes.merchant` runs one fake merchant until its stdin ends or it gets a signal."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import errno
import gc
import json
import logging
import os
import random
import signal
import sys
import threading
from collections.abc import Sequence
from urllib.parse import urlsplit

from starlette.types import ASGIApp

from gateproof.fakes.merchant.admin_application import admin_application
from gateproof.fakes.merchant.application import application
from gateproof.fakes.merchant.config import ConfigError, MerchantConfig, parse_config
from gateproof.fakes.merchant.extra_listeners import ExtraListeners
from gateproof.fakes.merchant.key_sets import http_client
from gateproof.fakes.merchant.merchant import Merchant, build
from gateproof.fakes.merchant.minting import new_signer
from gateproof.fakes.merchant.more_merchants import MoreMerchants
from gateproof.fakes.serving import Listener, listen, server_tls

LONGEST_CONFIG = 1024 * 1024
EXIT_BAD_CONFIG = 2
EXIT_PORT_TAKEN = 98
_NEW_OBJECTS = 20_000


def main(arguments: Sequence[str] | None = None) -> int:
    """Reads the configuration from stdin and serves; returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m gateproof.fakes.merchant", description=__doc__)
    parser.add_argument("--verbose", action="store_true", help="log one line a request to stderr")
    if parser.parse_args(arguments).verbose:
        logging.getLogger("gateproof.fakes.merchant").addHandler(logging.StreamHandler())
        logging.getLogger("gateproof.fakes.merchant").setLevel(logging.INFO)
    # Modules stay, and requests leave few reference cycles, so the collection is made rarer.
    gc.freeze()
    gc.set_threshold(_NEW_OBJECTS)
    try:
        config = parse_config(_first_line())
        asyncio.run(_serve(config))
    except ConfigError as error:
        print(f"fake merchant: {error}", file=sys.stderr)
        return EXIT_BAD_CONFIG
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            print(f"fake merchant: {config.listen} is taken", file=sys.stderr)
            return EXIT_PORT_TAKEN
        print(f"fake merchant: {error.strerror or type(error).__name__}", file=sys.stderr)
        return EXIT_BAD_CONFIG
    return 0


async def _serve(config: MerchantConfig) -> None:
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    listeners: list[Listener] = []
    try:
        listeners += await _open(config)
        # Not sys.stdin: at exit, a daemon thread that reads it would keep its lock.
        threading.Thread(target=_until_stdin_ends, args=(loop, stop), daemon=True).start()
        await stop.wait()
    finally:
        for listener in listeners:
            await listener.end()


async def _open(config: MerchantConfig) -> list[Listener]:
    """Opens both ports and announces them."""
    tls = server_tls(config.tls.cert_file, config.tls.key_file) if config.tls else None
    http = http_client(config.target)
    built: list[Merchant] = []

    def merchant_at(netloc: str) -> ASGIApp:
        base_url = config.public_url or _url(config, config.named(netloc))
        signer = new_signer(config.seed)
        built.append(
            build(config, base_url=base_url, http=http, entropy=random.SystemRandom(), signer=signer)
        )
        return application(built[0])

    host, port = config.address
    public = await listen(merchant_at, host=host, port=port, tls=tls)
    merchant = built[0]
    endpoints = merchant.shape.endpoints
    certificates = {
        name: server_tls(files.cert_file, files.key_file) for name, files in config.certificates.items()
    }
    extra = ExtraListeners(
        application(merchant),
        token_endpoint=endpoints.token_endpoint,
        host=host,
        named=config.named,
        tls=tls,
        certificates=certificates,
    )
    more = MoreMerchants(
        config,
        tls=tls,
        http=http,
        first=merchant,
        administered=lambda another: admin_application(another, config.admin_token),
    )
    admin = await listen(
        lambda _netloc: admin_application(merchant, config.admin_token, extra, more),
        host="127.0.0.1",
        port=0,
        tls=None,
    )
    announced = {
        "url": _url(config, public.netloc),
        "issuer": endpoints.issuer,
        "endpoints": endpoints.announced(),
        "admin_url": f"http://{admin.netloc}",
    }
    print(json.dumps(announced), flush=True)
    return [public, admin]


def _url(config: MerchantConfig, netloc: str) -> str:
    """The base URL where the merchant listens, with the path of its public URL, if any."""
    return f"{'https' if config.tls else 'http'}://{netloc}{urlsplit(config.public_url or '').path}"


def _first_line() -> str:
    """The configuration, read without buffering: `_until_stdin_ends` reads the rest of stdin."""
    line = bytearray()
    while not line.endswith(b"\n"):
        byte = os.read(0, 1)
        if not byte or len(line) > LONGEST_CONFIG:
            break
        line += byte
    return line.decode(errors="replace")


def _until_stdin_ends(loop: asyncio.AbstractEventLoop, stop: asyncio.Event) -> None:
    while os.read(0, 4096):
        pass
    # After a signal the loop can be closed already.
    with contextlib.suppress(RuntimeError):
        loop.call_soon_threadsafe(stop.set)


if __name__ == "__main__":
    sys.exit(main())
