"""One process of the gateway: the API, the core and, for tests, the control, each on its own address."""

import asyncio
import contextlib
import signal
import socket
from collections.abc import Iterator
from multiprocessing.connection import Connection
from urllib.parse import urlsplit

import uvicorn
from starlette.applications import Starlette
from starlette.routing import BaseRoute

from . import apps, logs
from .services import Services
from .settings import Settings

KEEP_ALIVE_S = 75


class Server(uvicorn.Server):
    """A server that leaves signals to the worker, which runs several of them."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


def main(settings: Settings, alive: Connection) -> None:
    logs.configure(settings.log)
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(_serve(settings, alive))


async def _serve(settings: Settings, alive: Connection) -> None:
    services = Services(settings)
    sites: dict[str, list[list[BaseRoute]]] = {}
    sites.setdefault(settings.base_url, []).append(apps.api(services))
    sites.setdefault(settings.core_url, []).append(apps.core(services))
    if settings.control_url:
        control = urlsplit(settings.control_url)
        sites.setdefault(f"{control.scheme}://{control.netloc}", []).append(apps.control(services, control.path))
    servers = [(_server(settings, url, apps.joined(parts)), _listen(url)) for url, parts in sites.items()]

    def stop() -> None:
        for server, _ in servers:
            server.should_exit = True

    loop = asyncio.get_running_loop()
    loop.add_signal_handler(signal.SIGTERM, stop)
    loop.add_signal_handler(signal.SIGINT, stop)
    loop.add_reader(alive.fileno(), stop)
    await asyncio.gather(*(server.serve(sockets=[listener]) for server, listener in servers))
    await services.close()


def _server(settings: Settings, url: str, app: Starlette) -> Server:
    secure = url.startswith("https:")
    return Server(
        uvicorn.Config(
            app,
            http="h11",
            ws="none",
            lifespan="off",
            log_config=None,
            access_log=False,
            proxy_headers=False,
            server_header=False,
            timeout_keep_alive=KEEP_ALIVE_S,
            timeout_graceful_shutdown=1,
            ssl_certfile=settings.tls / "server.pem" if secure else None,
            ssl_keyfile=settings.tls / "server-key.pem" if secure else None,
        )
    )


def _listen(url: str) -> socket.socket:
    address = urlsplit(url)
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
    listener.bind((address.hostname, address.port))
    return listener
