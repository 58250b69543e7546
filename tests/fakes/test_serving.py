"""A listener that closes leaves no connection, whenever that was accepted."""

from __future__ import annotations

import asyncio
import socket
import subprocess
import sys

import pytest
from starlette.applications import Starlette

from gateproof.fakes.serving import listen


@pytest.mark.parametrize("turns", range(8))
def test_connection_ends_with_its_listener(turns: int) -> None:
    """`turns` is how far the event loop has got with the connection when the listener closes."""

    async def ended() -> bool:
        listener = await listen(lambda _: Starlette(), host="127.0.0.1", port=0, tls=None)
        host, _, port = listener.netloc.rpartition(":")
        with socket.create_connection((host, int(port))) as client:
            client.setblocking(False)
            for _ in range(turns):
                await asyncio.sleep(0)
            await listener.end()
            try:
                return await asyncio.wait_for(asyncio.get_running_loop().sock_recv(client, 1), 5) == b""
            except ConnectionResetError:
                return True

    assert asyncio.run(ended())


def test_uvicorn_is_loaded_by_who_listens() -> None:
    source = "import sys, gateproof.conformance.run.drive.plugin; print('uvicorn' in sys.modules)"
    done = subprocess.run([sys.executable, "-P", "-c", source], check=True, capture_output=True, text=True)
    assert done.stdout == "False\n"
